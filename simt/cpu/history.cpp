#include "simt/cpu/history.hpp"

#include "simt/cpu/diagnosis.hpp"

namespace simt {

void History::add(const HistoryEntry& entry) {
  if (capacity_ == 0) return;
  if (entries_.size() < capacity_) {
    entries_.push_back(entry);
  } else {
    entries_[first_] = entry;
    first_ = (first_ + 1) % capacity_;
  }
}

void History::clear() {
  entries_.clear();
  // Lanes call add(). In the race build an allocation in add() would count as an access of the lane.
  entries_.reserve(capacity_);
  first_ = 0;
}

std::string history_text(const History& history, std::size_t rows,
                         const std::function<bool(const HistoryEntry&)>& wanted) {
  std::vector<const HistoryEntry*> shown;
  for (std::size_t i = history.size(); i-- > 0 && shown.size() < rows;) {
    if (!wanted || wanted(history[i])) shown.push_back(&history[i]);
  }
  std::string text = "launch    step    lane  operation      effect                                      call site\n";
  for (auto entry = shown.rbegin(); entry != shown.rend(); ++entry) text += history_row(**entry);
  return text;
}

}  // namespace simt
