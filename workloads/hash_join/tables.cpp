#include "workloads/hash_join/tables.hpp"

#include <atomic>
#include <mutex>
#include <stdexcept>

#include "workloads/hash_join/keys.hpp"
#include "workloads/support/parallel/parallel_for.hpp"

namespace allocbench {
namespace {

constexpr std::uint32_t no_row = 0xffffffffu;

// The rows of R by key: each key has a chain of rows.
struct KeyIndex {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> next;

  explicit KeyIndex(const std::vector<std::uint32_t>& keys)
      : first(std::size_t{*std::max_element(keys.begin(), keys.end())} + 1, no_row), next(keys.size()) {
    parallel_for(keys.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        const std::atomic_ref<std::uint32_t> head(first[keys[row]]);
        next[row] = head.exchange(static_cast<std::uint32_t>(row), std::memory_order_relaxed);
      }
    });
  }

  template <class Visit>
  void for_each(std::uint32_t key, Visit&& visit) const {
    if (key >= first.size()) return;
    for (std::uint32_t row = first[key]; row != no_row; row = next[row]) visit(row);
  }
};

}  // namespace

JoinKeys join_keys(const JoinInput& input) {
  const std::uint32_t n = input.tuples;
  if (n < 2) throw std::invalid_argument("a join needs two tuples at least");
  if (input.kind == "sel" && n > 1u << 28) throw std::invalid_argument("sel: 16 times the tuples exceeds 32 bits");
  const std::uint32_t copies = input.kind == "dup" ? 2 : 1;
  const std::uint32_t ordered = n / copies * copies;
  return {.order = JoinOrder(ordered, random_words(input.seed, RandomStream::join_order, 0)),
          .ordered = ordered,
          .copies = copies,
          .values = input.kind == "sel" ? 16 * n : n / copies,
          .seed = input.seed,
          .draws_s = input.kind != "skew"};
}

JoinTables join_tables(const JoinInput& input) {
  const JoinKeys keys = join_keys(input);
  JoinTables tables{std::vector<std::uint32_t>(input.tuples), std::vector<std::uint32_t>(input.tuples)};
  parallel_for(input.tuples, [&](std::size_t begin, std::size_t end) {
    for (auto row = static_cast<std::uint32_t>(begin); row < end; ++row) {
      tables.r[row] = keys.r(row);
      tables.s[row] = keys.draws_s ? keys.s(row) : draw_zipf(keys.word(row), input.tuples, input.exponent);
    }
  });
  return tables;
}

std::vector<std::uint64_t> joined_pairs(const JoinTables& tables) {
  const KeyIndex index(tables.r);
  std::vector<std::uint64_t> pairs;
  for (std::uint32_t row = 0; row < tables.s.size(); ++row) {
    index.for_each(tables.s[row], [&](std::uint32_t r_row) { pairs.push_back(join_pair(r_row, row)); });
  }
  return pairs;
}

MultisetDigest joined_digest(const JoinTables& tables) {
  const KeyIndex index(tables.r);
  MultisetDigest all;
  std::mutex adding;
  parallel_for(tables.s.size(), [&](std::size_t begin, std::size_t end) {
    MultisetDigest part;
    for (std::size_t row = begin; row < end; ++row) {
      index.for_each(tables.s[row],
                     [&](std::uint32_t r_row) { part.add(join_pair(r_row, static_cast<std::uint32_t>(row))); });
    }
    const std::lock_guard lock(adding);
    all.add(part);
  });
  return all;
}

}  // namespace allocbench
