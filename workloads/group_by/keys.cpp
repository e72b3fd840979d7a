#include "workloads/group_by/keys.hpp"

#include <algorithm>
#include <bit>
#include <boost/sort/block_indirect_sort/block_indirect_sort.hpp>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "workloads/support/inputs/stored_value.hpp"
#include "workloads/support/parallel/parallel_for.hpp"
#include "workloads/support/random/random.hpp"

namespace allocbench {
namespace {

// Returns a normally distributed key (Box & Muller 1958). The computation uses double precision.
std::uint32_t gaussian_key(const RandomWords& random, double sigma) {
  const double u = (static_cast<double>(random.words[0]) + 1) * 0x1p-32;  // never 0
  const double z = std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * unit_interval(random.words[1]));
  return static_cast<std::uint32_t>(std::clamp(std::round(0x1p31 + sigma * z), 0.0, 0x1p32 - 1));
}

std::uint32_t key_of_row(const GroupInput& input, std::uint32_t row) {
  const RandomWords random = random_words(input.seed, RandomStream::group_keys, row);
  if (input.kind == "gauss") return gaussian_key(random, 0x1p28);
  if (input.kind == "gauss_narrow") return gaussian_key(random, 0x1p20);
  if (input.kind == "few") return gaussian_key(random, 0x1p20) & ~0xfffu;
  if (input.kind == "uniform") return random.words[0];
  if (input.kind == "zipf") return mix32(draw_zipf(random.words[0], input.keys, input.exponent));
  if (input.kind == "one") return 0x12345678;
  throw std::invalid_argument("no such keys: " + input.kind);
}

constexpr std::uint32_t passes = 4;
constexpr std::size_t most_records_kept = 1u << 16;

// Returns the sums over the lists whose first record is in [begin, end). The last record of such a list may lie after
// `end`.
ExpectedGroups groups_that_begin_in(const std::vector<std::uint64_t>& records, std::size_t begin, std::size_t end,
                                    std::uint32_t records_per_page) {
  ExpectedGroups result;
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    const std::uint32_t shift = 56 - 8 * pass;
    const auto list_of = [&](std::size_t i) { return records[i] >> shift; };
    std::size_t first = begin;
    while (first != 0 && first < end && list_of(first) == list_of(first - 1)) ++first;
    while (first < end) {
      MultisetDigest rows;
      std::size_t i = first;
      for (; i < records.size() && list_of(i) == list_of(first); ++i) {
        if (pass == passes - 1) rows.add(records[i] & 0xffffffffu);
      }
      ++result.lists[pass];
      result.pages[pass] += (i - first + records_per_page - 1) / records_per_page;
      if (pass == passes - 1) {
        result.groups.add(group_element(static_cast<std::uint32_t>(records[first] >> 32), rows));
      }
      first = i;
    }
  }
  return result;
}

}  // namespace

std::vector<std::uint32_t> group_keys(const GroupInput& input) {
  std::vector<std::uint32_t> keys(input.keys);
  if (!keys.empty()) keys[0] = key_of_row(input, 0);  // may throw
  parallel_for(keys.size(), [&](std::size_t begin, std::size_t end) {
    for (auto row = static_cast<std::uint32_t>(begin); row < end; ++row) keys[row] = key_of_row(input, row);
  });
  return keys;
}

ExpectedGroups expected_groups(const std::vector<std::uint32_t>& keys, std::uint32_t records_per_page) {
  std::vector<std::uint64_t> records(keys.size());
  parallel_for(records.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) records[row] = std::uint64_t{keys[row]} << 32 | row;
  });
  boost::sort::block_indirect_sort(records.begin(), records.end());
  ExpectedGroups result;
  std::mutex adding;
  parallel_for(records.size(), [&](std::size_t begin, std::size_t end) {
    const ExpectedGroups part = groups_that_begin_in(records, begin, end, records_per_page);
    const std::lock_guard lock(adding);
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      result.lists[pass] += part.lists[pass];
      result.pages[pass] += part.pages[pass];
    }
    result.groups.add(part.groups);
  });
  if (records.size() <= most_records_kept) result.records = std::move(records);
  return result;
}

namespace {

GroupReference make_reference(const GroupInput& input, std::uint32_t records_per_page) {
  GroupReference result;
  const std::string key = "groups of " + std::to_string(input.keys) + " keys, " + input.kind + ' ' +
                          std::to_string(std::bit_cast<std::uint64_t>(input.exponent)) + ", seed " +
                          std::to_string(input.seed) + ", pages of " + std::to_string(records_per_page);
  GroupSums& sums = result.expected;
  const bool small = input.keys <= most_records_kept;  // small inputs are cheap to make, and their records are needed
  std::optional<StoredValue> stored = small ? std::nullopt : StoredValue::open(key);
  if (stored && stored->read(&sums, 1) && stored->bytes() == input.keys * sizeof(std::uint32_t)) {
    result.keys.resize(input.keys);
    if (stored->read(result.keys.data(), result.keys.size())) return result;
  }
  result.keys = group_keys(input);
  result.expected = expected_groups(result.keys, records_per_page);
  if (!small) {
    store_value(key, {std::as_bytes(std::span(&sums, 1)), std::as_bytes(std::span<const std::uint32_t>(result.keys))});
  }
  return result;
}

}  // namespace

const GroupReference& group_reference(const GroupInput& input, std::uint32_t records_per_page) {
  static std::map<std::pair<GroupInput, std::uint32_t>, GroupReference> all;
  const std::pair choice(input, records_per_page);
  const auto found = all.find(choice);
  return found != all.end() ? found->second
                            : all.emplace(choice, make_reference(input, records_per_page)).first->second;
}

std::string grouping_problem(const ExpectedGroups& expected, const std::vector<std::uint64_t>& records,
                             const std::vector<std::uint32_t>& lists) {
  std::vector<std::size_t> order(records.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return records[a] < records[b]; });
  if (records.size() != expected.records.size()) {
    return std::to_string(records.size()) + " records instead of " + std::to_string(expected.records.size());
  }
  std::map<std::uint32_t, std::uint32_t> key_of_list;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (records[order[i]] != expected.records[i]) return "a record is missing, or there twice";
    const auto key = static_cast<std::uint32_t>(expected.records[i] >> 32);
    const std::uint32_t list = lists[order[i]];
    if (i != 0 && expected.records[i - 1] >> 32 == key && lists[order[i - 1]] != list) {
      return "key " + std::to_string(key) + " is in two lists";
    }
    if (!key_of_list.emplace(list, key).second && key_of_list[list] != key) {
      return "keys " + std::to_string(key_of_list[list]) + " and " + std::to_string(key) + " share a list";
    }
  }
  return {};
}

}  // namespace allocbench
