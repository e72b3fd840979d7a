// This file keeps inputs that the host computes from parameters and a seed. If the run has a scratch folder, its
// processes share the computed inputs (StoredValue). Each process also keeps its latest inputs, because later cells
// often need the same ones.
//
// An input lists its parts, which are plain values, vectors of plain values, or vectors of such vectors:
//
//   struct Input {
//     std::vector<std::uint32_t> keys;
//     template <class Self, class Visit>
//     static void for_each_part(Self& self, const Visit& visit) { visit(self.keys); }
//   };
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "workloads/support/inputs/stored_value.hpp"

namespace allocbench {

// The bytes of an input's parts. The parts must outlive the writer.
class InputWriter {
 public:
  template <class T>
  void add(const T& value) {
    parts_.push_back(std::as_bytes(std::span(&value, 1)));
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(counts_.emplace_back(values.size()));
    if constexpr (std::is_trivially_copyable_v<T>) {
      parts_.push_back(std::as_bytes(std::span<const T>(values)));
    } else {
      for (const T& each : values) add(each);
    }
  }
  std::span<const std::span<const std::byte>> parts() const { return parts_; }

 private:
  std::deque<std::uint64_t> counts_;
  std::vector<std::span<const std::byte>> parts_;
};

class InputReader {
 public:
  explicit InputReader(StoredValue& stored) : stored_(stored) {}

  template <class T>
  void read(T& value) {
    whole_ = whole_ && stored_.read(&value, 1);
  }
  template <class T>
  void read(std::vector<T>& values) {
    std::uint64_t count = 0;
    read(count);
    constexpr std::size_t least = std::is_trivially_copyable_v<T> ? sizeof(T) : sizeof count;
    whole_ = whole_ && count <= stored_.bytes() / least;
    if (!whole_) return;
    values.resize(count);
    if constexpr (std::is_trivially_copyable_v<T>) {
      whole_ = count == 0 || stored_.read(values.data(), count);
    } else {
      for (T& each : values) read(each);
    }
  }
  // Returns whether the value had exactly these parts.
  bool whole() const { return whole_ && stored_.bytes() == 0; }

 private:
  StoredValue& stored_;
  bool whole_ = true;
};

// Returns the input of this key, which is kept, read or computed. The process keeps the four most recently used inputs
// of each type.
template <class Input, class Make>
std::shared_ptr<const Input> kept_input(const std::string& key, const Make& make) {
  constexpr std::size_t most_kept = 4;
  static std::deque<std::pair<std::string, std::shared_ptr<const Input>>> kept;  // the most recently used at the end
  for (auto entry = kept.begin(); entry != kept.end(); ++entry) {
    if (entry->first != key) continue;
    std::rotate(entry, entry + 1, kept.end());
    return kept.back().second;
  }
  auto input = std::make_shared<Input>();
  std::optional<StoredValue> stored = StoredValue::open(key);
  bool read = false;
  if (stored) {
    InputReader reader(*stored);
    Input::for_each_part(*input, [&](auto& part) { reader.read(part); });
    read = reader.whole();
  }
  if (!read) {
    *input = make();
    InputWriter writer;
    Input::for_each_part(std::as_const(*input), [&](const auto& part) { writer.add(part); });
    store_value(key, writer.parts());
  }
  if (kept.size() == most_kept) kept.pop_front();
  kept.emplace_back(key, input);
  return input;
}

}  // namespace allocbench
