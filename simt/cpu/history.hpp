// History holds the last operations of a run, in the order in which they took effect, for reports about lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simt/cpu/call_site.hpp"

namespace simt {

enum class Operation : std::uint8_t;

struct HistoryEntry {
  std::uint64_t step = 0;  // step of the launch at which the operation took effect
  std::uint64_t lane = 0;  // rank of the lane in the grid
  std::uint32_t launch = 0;
  std::uint32_t bytes = 0;  // bytes of the atomic word; 0 for an operation without a word
  Operation operation{};
  CallSite site;
  const void* address = nullptr;  // address of the atomic word
  std::uint64_t before = 0;       // value of the word before; for a group operation or converged(), the mask
  std::uint64_t after = 0;        // value of the word after; for a group operation, the result of this lane
  const char* note = nullptr;     // name of the event from Lane::note(), with `after` as its value
};

// History is a ring of the last `capacity` entries.
class History {
 public:
  explicit History(std::size_t capacity) : capacity_(capacity) {}

  void add(const HistoryEntry& entry);
  void clear();
  std::size_t capacity() const { return capacity_; }
  std::size_t size() const { return entries_.size(); }
  // Returns an entry. Index 0 is the oldest entry.
  const HistoryEntry& operator[](std::size_t index) const { return entries_[(first_ + index) % entries_.size()]; }

 private:
  std::size_t capacity_;
  std::size_t first_ = 0;
  std::vector<HistoryEntry> entries_;
};

// Returns a table of the last `rows` entries that `wanted` accepts. An empty `wanted` accepts every entry.
std::string history_text(const History& history, std::size_t rows,
                         const std::function<bool(const HistoryEntry&)>& wanted = {});

}  // namespace simt
