// These functions query and update the lanes' views of old values.
#include "simt/cpu/old_values.hpp"

#include <algorithm>

#include "simt/cpu/history.hpp"
#include "simt/cpu/worker.hpp"

namespace simt {

void OldValues::clear() {
  words_.clear();
  views_.clear();
  freed_.clear();
  now_ = 0;
}

void OldValues::join(View& view, const View& other) {
  if (view.size() < other.size()) view.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) view[i] = std::max(view[i], other[i]);
}

std::uint32_t& OldValues::time_in(View& view, std::size_t index) {
  if (view.size() <= index) view.resize(index + 1);
  return view[index];
}

OldValues::View& OldValues::view_of(std::uint64_t lane) { return views_[lane]; }

OldValues::Word& OldValues::word_at(const void* address, std::uint64_t newest) {
  const auto [found, is_new] = words_.try_emplace(address);
  Word& word = found->second;
  if (is_new) {
    word.index = words_.size() - 1;
    word.values.push_back({newest, 0, nullptr});
  } else if (word.values.back().value != newest) {
    word.values.assign(1, {newest, ++now_, nullptr});
  }
  return word;
}

std::uint32_t OldValues::readable(std::uint64_t lane, const void* address, std::uint64_t newest) {
  const Word& word = word_at(address, newest);
  const std::uint32_t oldest = time_in(view_of(lane), word.index);
  return static_cast<std::uint32_t>(std::count_if(word.values.begin(), word.values.end() - 1,
                                                  [=](const Value& each) { return each.written >= oldest; }));
}

std::uint64_t OldValues::read(std::uint64_t lane, const void* address, std::uint32_t age, bool acquires) {
  const Word& word = words_.at(address);
  const Value& value = word.values[word.values.size() - 1 - age];
  View& view = view_of(lane);
  std::uint32_t& oldest = time_in(view, word.index);
  oldest = std::max(oldest, value.written);
  if (acquires && value.view != nullptr) join(view, *value.view);
  return value.value;
}

void OldValues::write(std::uint64_t lane, const void* address, std::uint64_t before, std::uint64_t after, Order order) {
  Word& word = word_at(address, before);
  View& view = view_of(lane);
  const std::shared_ptr<const View> replaced = order.updates ? word.values.back().view : nullptr;
  if (order.acquires && replaced != nullptr) join(view, *replaced);
  time_in(view, word.index) = ++now_;
  Value value{after, now_, replaced};
  if (order.releases) {
    const auto given = std::make_shared<View>(view);
    if (replaced != nullptr) join(*given, *replaced);
    value.view = given;
  }
  if (word.values.size() == most_values) word.values.erase(word.values.begin());
  word.values.push_back(std::move(value));
}

namespace {

// Returns the key of a word. A word of four bytes and a word of eight bytes at the same place are different words.
const void* key(const void* address, std::uint32_t bytes) {
  return static_cast<const std::byte*>(address) + (bytes == 8 ? 1 : 0);
}

}  // namespace

std::uint64_t Lane::read_old(const void* address, std::uint64_t newest, std::uint32_t bytes, bool acquires) {
  OldValues& values = *tracker->old_values;
  const std::uint32_t most = values.readable(rank_in_grid, key(address, bytes), newest);
  const std::uint32_t age = most == 0 ? 0 : std::min(most, worker->strategy_->age_of_load(*this));
  const std::uint64_t found = values.read(rank_in_grid, key(address, bytes), age, acquires);
  if (age != 0 && tracker->history != nullptr) {
    tracker->history->add(
        {worker->steps(), rank_in_grid, worker->launch_->index, bytes, operation, site, address, found, found, "old"});
  }
  return found;
}

void Lane::read_newest(const void* address, std::uint64_t newest, std::uint32_t bytes, bool acquires) {
  tracker->old_values->readable(rank_in_grid, key(address, bytes), newest);
  tracker->old_values->read(rank_in_grid, key(address, bytes), 0, acquires);
}

void Lane::write_over(const void* address, std::uint64_t before, std::uint64_t after, std::uint32_t bytes,
                      OldValues::Order order) {
  tracker->old_values->write(rank_in_grid, key(address, bytes), before, after, order);
}

}  // namespace simt
