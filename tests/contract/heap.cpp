#include "tests/contract/heap.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "workloads/support/verification/pointer_rules.hpp"

namespace allocbench::contract {

namespace {

// If only a number of steps (`max_steps`) ends the searches of a design, this function sets a low limit. The limit is
// at most four laps over a list of chunks of 16 bytes in 1 MiB.
ParameterValues with_short_searches(const AllocatorType& type, std::size_t pool_bytes, ParameterValues values) {
  const auto is_bound = [](const auto& parameter) { return std::string_view(parameter.name) == "max_steps"; };
  const auto& known = type.parameters;
  if (std::none_of(known.begin(), known.end(), is_bound)) return values;
  values.emplace_back("max_steps", std::min<std::uint64_t>(pool_bytes / 4, 1 << 18));
  return values;
}

}  // namespace

Heap::Heap(const AllocatorType& type, std::size_t pool_bytes, Report& report, ParameterValues parameters)
    : type_(type),
      pool_bytes_(pool_bytes),
      report_(report),
      parameters_(with_short_searches(type, pool_bytes, std::move(parameters))) {
  open();
}

void Heap::open() {
  slots_.clear();
  allocator_.reset();
  contents_.reset();
  arena_.reset();
  device_.reset();
  device_.emplace(type_.functions.device_heap_bytes(pool_bytes_, parameters_));
  arena_.emplace(device_->stream(), pool_bytes_);
  allocator_.emplace(type_, *arena_, parameters_);
  rules_ = pointer_rules(*allocator_, *arena_, !traits().recycles_unfreed);
  pool_begin_ = arena_->has_pool() ? reinterpret_cast<std::uint64_t>(arena_->pool().base) : 0;
}

void Heap::check_contents(std::uint64_t mallocs) {
  touch = false;
  contents_.emplace(device_->stream(), mallocs, rules_);
  allocator_ = allocator_->observed({}, contents_->ledger());
}

std::size_t Heap::memory_bytes() {
  if (traits().pool == PoolLocation::arena) return arena_bytes();
  return (arena_->has_pool() ? arena_bytes() : 0) + device_->device_heap_bytes();
}

bool Heap::in_pool(std::size_t slot) const {
  const std::uint64_t address = slots_[slot].address;
  return address >= pool_begin_ && address < pool_begin_ + pool_bytes_;
}

Blocks Heap::malloc(Calls& calls, std::uint32_t thread, std::uint64_t bytes, std::uint32_t count) {
  const Blocks blocks{slots_.size(), count};
  calls.set(thread, {.verb = ScriptVerb::malloc, .count = count, .slot = blocks.first, .bytes = bytes});
  Slot slot;
  slot.bytes = bytes;
  slot.shape = {calls.shape().blocks, calls.shape().threads_per_block};
  slot.thread = thread;
  slots_.insert(slots_.end(), count, slot);
  return blocks;
}

void Heap::free(Calls& calls, std::uint32_t thread, Blocks blocks) {
  calls.set(
      thread,
      {.verb = ScriptVerb::free, .count = blocks.count, .slot = blocks.first, .bytes = slots_[blocks.first].bytes});
}

void Heap::run(const Calls& calls) {
  launch(calls);
  note_frees(calls);
  check();
}

void Heap::launch(const Calls& calls) {
  simt::Stream& stream = device_->stream();
  simt::Buffer<ScriptCall> device_calls(calls.list().size());
  device_calls.from_host(stream, calls.list());
  std::vector<void*> addresses(slots_.size());
  std::transform(slots_.begin(), slots_.end(), addresses.begin(),
                 [](const Slot& slot) { return reinterpret_cast<void*>(slot.address); });
  simt::Buffer<void*> slots(slots_.size());
  slots.from_host(stream, addresses);
  simt::Buffer<ScriptFindings> findings(1);
  findings.from_host(stream, {{.overwritten = 0, .first_slot = UINT32_MAX}});

  Script script;
  script.calls = device_calls.data();
  script.rounds = calls.rounds();
  script.slots = slots.data();
  script.findings = findings.data();
  script.memory_begin = rules_.pool_begin;
  script.memory_end = rules_.pool_end != 0 ? rules_.pool_end : UINT64_MAX;
  script.most_bytes = pool_bytes_;
  script.touch = touch && !traits().recycles_unfreed;
  allocator_->launch<ScriptKernels>(stream, calls.shape(), ScriptKernel{}, script);

  addresses = slots.to_host(stream);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].address != 0) continue;
    slots_[i].address = reinterpret_cast<std::uint64_t>(addresses[i]);
    slots_[i].live = addresses[i] != nullptr;
  }
  const ScriptFindings found = findings.to_host(stream)[0];
  if (found.overwritten != 0) {
    report_.problem(std::to_string(found.overwritten) +
                    " blocks were overwritten while they were live; the first is block " +
                    std::to_string(found.first_slot) + " of " + bytes_text(slots_[found.first_slot].bytes));
  }
}

void Heap::note_frees(const Calls& calls) {
  for (const ScriptCall& call : calls.list()) {
    if (call.verb != ScriptVerb::free) continue;
    for (std::size_t slot = call.slot; slot < call.slot + call.count; ++slot) slots_[slot].live = false;
  }
}

void Heap::check() {
  std::vector<RecordedBlock> blocks;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].live) blocks.push_back({slots_[i].address, slots_[i].bytes, i});
  }
  PointerCheck pointers(rules_);
  pointers.check(blocks, PointerCheck::Live::together);
  if (!pointers.ok()) report_.problem(pointers.problem());
  if (contents_.has_value()) {
    if (const std::string problem = contents_->problem(); !problem.empty()) report_.problem(problem);
  }
  // Large pools are not checked for invariants, because these checks copy the metadata.
  if (pool_bytes_ >= large_pool_bytes) return;
  const std::string broken = allocator_->broken_invariant(device_->stream());
  if (!broken.empty()) report_.problem("invariant broken: " + broken);
}

std::uint32_t Heap::served(Blocks blocks) const {
  const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(blocks.first);
  return static_cast<std::uint32_t>(
      std::count_if(first, first + blocks.count, [](const Slot& slot) { return slot.address != 0; }));
}

std::uint32_t Heap::live() const {
  return static_cast<std::uint32_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& each) { return each.live; }));
}

std::vector<std::uint64_t> Heap::refused_sizes() const {
  std::set<std::uint64_t> sizes;
  for (const Slot& slot : slots_) {
    if (slot.address == 0) sizes.insert(slot.bytes);
  }
  return {sizes.begin(), sizes.end()};
}

void Heap::free_all() {
  // `runs` has the runs of slots that one call can free, by shape of the grid and by thread.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, std::vector<Blocks>>> runs;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    std::vector<Blocks>& own = runs[slot.shape][slot.thread];
    if (!slot.live) continue;
    if (!own.empty() && own.back().first + own.back().count == i && slots_[i - 1].bytes == slot.bytes) {
      ++own.back().count;
    } else {
      own.push_back({i, 1});
    }
  }
  for (const auto& [shape, threads] : runs) {
    Calls calls(shape.first, shape.second);
    std::size_t rounds = 0;
    for (const auto& [thread, own] : threads) rounds = std::max(rounds, own.size());
    for (std::size_t round = 0; round < rounds; ++round) {
      for (const auto& [thread, own] : threads) {
        if (round < own.size()) free(calls, thread, own[round]);
      }
      calls.next();
    }
    for (const auto& [thread, own] : threads) calls.set(thread, {.verb = ScriptVerb::release});
    run(calls);
  }
  slots_.clear();
}

void Heap::refresh() {
  if (traits().fresh == Fresh::by_reset) {
    reset();
  } else if (devices_are_fresh) {
    open();
  } else {
    free_all();
  }
}

void Heap::reset() {
  allocator_->reset(device_->stream());
  slots_.clear();
}

}  // namespace allocbench::contract
