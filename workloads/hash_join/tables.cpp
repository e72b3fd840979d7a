#include "workloads/hash_join/tables.hpp"

#include <atomic>
#include <bit>
#include <mutex>
#include <stdexcept>

#include "workloads/common/parallel_for.hpp"
#include "workloads/common/random.hpp"

namespace allocbench {
namespace {

// A random order of the numbers below `count`: odd multiplications and shifts permute the numbers of as many bits;
// those that leave the range are mapped on until they are inside.
class Permutation {
 public:
  Permutation(std::uint32_t count, std::uint64_t seed)
      : count_(count), bits_(static_cast<std::uint32_t>(std::bit_width(count - 1))) {
    const RandomWords draws = random_words(seed, RandomStream::join_order, 0);
    for (std::uint32_t round = 0; round < 4; ++round) keys_[round] = draws.words[round];
  }
  std::uint32_t operator()(std::uint32_t number) const {
    if (bits_ == 0) return number;
    const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << bits_) - 1);
    do {
      for (const std::uint32_t key : keys_) {
        number = ((number + key) * 0x9e3779b1u) & mask;
        number ^= number >> (bits_ / 2 + 1);
      }
    } while (number >= count_);
    return number;
  }

 private:
  std::uint32_t count_;
  std::uint32_t bits_;
  std::uint32_t keys_[4];
};

constexpr std::uint32_t no_row = 0xffffffffu;

// The rows of R by key: a chain per key.
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

JoinTables join_tables(const JoinInput& input) {
  const std::uint32_t n = input.tuples;
  if (n < 2) throw std::invalid_argument("a join needs two tuples at least");
  if (input.kind == "sel" && n > 1u << 28) throw std::invalid_argument("sel: 16 times the tuples exceeds 32 bits");
  const std::uint32_t copies = input.kind == "dup" ? 2 : 1;
  const std::uint32_t values = input.kind == "sel" ? 16 * n : n / copies;
  const Permutation order(n / copies * copies, input.seed);
  JoinTables tables{std::vector<std::uint32_t>(n), std::vector<std::uint32_t>(n)};
  parallel_for(n, [&](std::size_t begin, std::size_t end) {
    for (auto row = static_cast<std::uint32_t>(begin); row < end; ++row) {
      // An odd number of rows leaves one over, whose key nobody has.
      tables.r[row] = row < n / copies * copies ? order(row) / copies : n / copies;
      const std::uint32_t word = random_words(input.seed, RandomStream::join_probe, row).words[0];
      tables.s[row] = input.kind == "skew" ? draw_zipf(word, n, input.exponent) : scale_to(word, values);
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
