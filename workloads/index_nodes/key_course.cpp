#include "workloads/index_nodes/key_course.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/support/random/random.hpp"

namespace allocbench::index {
namespace {

// Keys differ, because the mixer is a bijection. No value is 0.
std::uint32_t key_of(std::uint32_t number) { return mix32(number + 1); }
std::uint32_t value_of(std::uint32_t number, std::uint32_t round) { return mix32(number ^ round << 26) | 1u; }

// Moves `chosen` random elements to the front, in random order.
template <class T>
void draw_to_front(std::vector<T>& elements, std::size_t chosen, std::uint64_t seed, std::uint32_t sub_index) {
  for (std::size_t i = 0; i < chosen; ++i) {
    const std::uint32_t word = random_words(seed, RandomStream::index_operations, i, sub_index).words[0];
    std::swap(elements[i], elements[i + scale_to(word, static_cast<std::uint32_t>(elements.size() - i))]);
  }
}

void shuffle(std::vector<KeyOperation>& operations, std::uint64_t seed, std::uint32_t sub_index) {
  if (!operations.empty()) draw_to_front(operations, operations.size() - 1, seed, sub_index);
}

void lay_out(const std::vector<KeyOperation>& known, std::uint32_t mask, std::uint32_t node_capacity,
             KeyCourse& course) {
  course.buckets.resize(std::size_t{mask} + 1);
  for (const KeyOperation& each : known) {
    if (each.value != 0) course.buckets[mix32(each.key) & mask].add(std::uint64_t{each.key} << 32 | each.value);
  }
  course.first_node = {0};
  for (const MultisetDigest& bucket : course.buckets) {
    const auto nodes = static_cast<std::uint32_t>((bucket.count + node_capacity - 1) / node_capacity);
    course.first_node.push_back(course.first_node.back() + nodes);
  }
}

}  // namespace

std::size_t KeyCourse::most_operations() const {
  std::size_t most = 0;
  for (const auto& launch : launches) most = std::max(most, launch.size());
  return most;
}

std::uint64_t KeyCourse::mallocs_at_most() const {
  std::uint64_t insertions = 0;
  for (const auto& launch : launches) {
    insertions += static_cast<std::uint64_t>(
        std::count_if(launch.begin(), launch.end(), [](const KeyOperation& each) { return each.value != 0; }));
  }
  return insertions;
}

KeyCourse draw_keys(std::uint32_t keys, std::uint32_t rounds, double changed_share, std::uint32_t mask,
                    std::uint32_t node_capacity, std::uint64_t seed) {
  KeyCourse course;
  const auto changed = static_cast<std::uint32_t>(std::lround(changed_share * keys));
  std::vector<KeyOperation> known;   // the key and value of each number
  std::vector<std::uint32_t> alive;  // numbers of the keys in the index
  const auto insert = [&](std::uint32_t round, std::vector<KeyOperation>& launch) {
    const auto number = static_cast<std::uint32_t>(known.size());
    launch.push_back(known.emplace_back(KeyOperation{key_of(number), value_of(number, round)}));
    return number;
  };
  for (std::uint32_t round = 0; round <= rounds; ++round) {
    std::vector<KeyOperation>& launch = course.launches.emplace_back();
    if (round == 0) {
      for (std::uint32_t i = 0; i < keys; ++i) alive.push_back(insert(round, launch));
    } else {
      draw_to_front(alive, changed, seed, 2 * round);
      for (std::uint32_t i = 0; i < changed; ++i) {
        known[alive[i]].value = 0;
        launch.push_back(known[alive[i]]);
        alive[i] = insert(round, launch);
      }
    }
    shuffle(launch, seed, 2 * round + 1);
    course.look_ups.push_back(known);
  }
  lay_out(known, mask, node_capacity, course);
  std::vector<KeyOperation>& last = course.launches.emplace_back();
  for (const std::uint32_t number : alive) last.push_back({known[number].key, 0});
  shuffle(last, seed, 2 * rounds + 3);
  return course;
}

}  // namespace allocbench::index
