// SubjectOf<A> runs models on allocator A. Only the generated check units and a test include it.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "check/program.hpp"
#include "check/subject.hpp"

namespace allocbench::check {

template <class A>
class SubjectOf final : public Subject {
 public:
  explicit SubjectOf(std::string plugin) : plugin_(std::move(plugin)) {}

  const Traits& traits() const override {
    static constexpr Traits traits = A::traits;
    return traits;
  }
  const std::string& plugin() const override { return plugin_; }
  std::size_t device_heap_bytes(const Model& model) const override {
    return allocbench::device_heap_bytes<A>(heap(model).pool_bytes, heap(model).parameters);
  }

  std::string unsupported(const Model& model) const override {
    if (A::traits.whole_warp_calls && (model.has_partial_warps() || judged_alone(model))) {
      return "all lanes of a warp must call together";
    }
    if (model.kernels > 1 && keeps_sessions) {
      return "the allocator finds the state of a thread or warp by its rank in the grid, which is not unique while "
             "several kernels run";
    }
    if (model.resets && !has_reset) return "the allocator has no reset(): only a new process gives a new heap";
    if (model.refills && A::traits.frees != Frees::individually) return "the allocator does not free single blocks";
    if (model.heap == protocol::ModelHeap::many_units && !HasHeapOfManyUnits<A>) {
      return "the allocator defines no heap of many units";
    }
    if (model.asks_too_much() && A::traits.test_only)
      return "a test heap of this allocator may serve any size from a slot";
    return {};
  }

  FreshHeap measure_fresh_heap(const Model& model, std::uint64_t step_budget) const override {
    constexpr std::uint32_t schedules = 32;
    simt::ExecutorOptions options;
    options.mode = simt::ExecutorMode::deterministic;
    options.step_budget = step_budget;
    options.device_heap_bytes = std::max<std::size_t>(device_heap_bytes(model), 4096);
    FreshHeap fresh;
    for (const std::size_t bytes : sizes_of(model)) {
      const std::uint32_t alone =
          blocks_of_fresh_heap(model, options, bytes, {whole_heap(model, bytes)}, fresh.verdict);
      fresh.alone.push_back(alone);
      if (!model.resets) continue;
      simt::ExecutorOptions drawn = options;
      drawn.strategy = simt::StrategyKind::swarm;
      std::uint32_t fewest = std::numeric_limits<std::uint32_t>::max();
      for (drawn.seed = 1; drawn.seed <= schedules; ++drawn.seed) {
        std::string shown_by_the_model;
        fewest = std::min(fewest,
                          blocks_of_fresh_heap(model, drawn, bytes, {by_a_warp(alone), {alone}}, shown_by_the_model));
      }
      fresh.together.push_back(fewest);
    }
    if (fresh.verdict.empty()) fresh.verdict = lack_of_fresh_heap(model, options);
    return fresh;
  }

  void run(simt::Device& device, const Model& model, const FreshHeap& fresh, RunRecord& record) const override {
    // Without the numbers of a fresh heap, steps that fill the heap would request almost nothing.
    if (!fresh.verdict.empty()) {
      record.verdict = "a fresh heap that one lane or one warp fills alone: " + fresh.verdict;
      return;
    }
    simt::Stream stream(device);
    Arena arena(stream, heap(model).pool_bytes);
    Instance instance{A::create(arena, heap(model).parameters)};
    A& allocator = instance.allocator;
    record.first_launch = device.launches();
    ShadowHeap oracle(rules(arena, allocator));
    const auto keep = [&](const ShadowHeap& witness, auto&& body) {
      try {
        body();
      } catch (const simt::Fault&) {
        note_launch(device, record);
        note(witness, record);
        throw;
      }
      note(witness, record);
    };
    const std::vector<std::size_t> sizes = sizes_of(model);
    keep(oracle, [&] {
      run_steps(stream, allocator, model, sizes, oracle, record);
      judge_end(stream, allocator, oracle);
    });
    if (!oracle.verdict().empty()) return;
    const auto judge_refill = [&](std::size_t i) {
      ShadowHeap alone(rules(arena, allocator));
      keep(alone, [&] { refill(stream, allocator, model, sizes[i], fresh.alone[i], alone, record); });
      if (!model.resets || !alone.verdict().empty()) return;
      ShadowHeap together(rules(arena, allocator));
      keep(together,
           [&] { refill_together(stream, allocator, sizes[i], fresh.alone[i], fresh.together[i], together, record); });
    };
    if (judged_alone(model)) {
      for (std::size_t i = 0; i < sizes.size() && record.verdict.empty(); ++i) judge_refill(i);
    } else if (demands_conservation(model)) {
      const std::uint32_t again = promised_again(model, oracle.most_live_blocks(), fresh.alone.front());
      if (again == 0) return;
      keep(oracle, [&] {
        serve_again(stream, allocator, sizes.front(), again, oracle, record);
        judge_end(stream, allocator, oracle);
      });
    } else if (A::traits.frees == Frees::individually && !A::traits.whole_warp_calls) {
      judge_refill(static_cast<std::size_t>(std::min_element(sizes.begin(), sizes.end()) - sizes.begin()));
    }
  }

 private:
  // Mailboxes is the table with which lanes pass blocks to each other.
  class Mailboxes {
   public:
    Mailboxes(simt::Stream& stream, std::uint32_t slots, std::uint32_t lanes)
        : words_(std::size_t{slots} * lanes), slots_(slots), lanes_(lanes) {
      clear(stream);
    }
    void clear(simt::Stream& stream) { words_.fill_bytes(stream, 0); }
    Program program(const std::vector<Step>& steps, const std::vector<std::size_t>& sizes, ShadowHeap& oracle) const {
      Program program;
      program.steps = steps.data();
      program.step_count = static_cast<std::uint32_t>(steps.size());
      program.lanes = lanes_;
      program.sizes = sizes.data();
      program.size_count = static_cast<std::uint32_t>(sizes.size());
      program.mailboxes = words_.data();
      program.slots = slots_;
      program.oracle = &oracle;
      program.owns_blocks = !A::traits.recycles_unfreed;
      return program;
    }

   private:
    simt::Buffer<std::uint64_t> words_;
    std::uint32_t slots_;
    std::uint32_t lanes_;
  };

  // Runs the launches of the model. If the design frees single blocks and the model has no resets, one more launch
  // frees the remaining blocks.
  void run_steps(simt::Stream& stream, A& allocator, const Model& model, const std::vector<std::size_t>& sizes,
                 ShadowHeap& oracle, RunRecord& record) const {
    Mailboxes boxes(stream, model.slots(), model.lanes());
    Program program = boxes.program(model.steps, sizes, oracle);
    program.rounds = model.rounds;
    program.null_is_failure = model.null_is_failure;
    const simt::LaunchShape shape{model.blocks, model.threads_per_block};
    for (std::uint32_t i = 0; i < model.launches; ++i) {
      if (model.resets && i != 0) {
        make_new(stream, allocator);
        boxes.clear(stream);
        oracle.forget_blocks();
      }
      launch_at_once(stream, model.kernels, shape, allocator, program, record);
    }
    if (A::traits.frees == Frees::individually && !model.resets) {
      const std::vector<Step> drain = drain_steps(model.slots(), model.lanes());
      launch_at_once(stream, model.kernels, shape, allocator, boxes.program(drain, sizes, oracle), record);
    }
  }

  struct Instance {
    A allocator;
    ~Instance() { destroy(allocator); }
  };

  BlockRules rules(Arena& arena, const A& allocator) const {
    BlockRules rules;
    rules.alignment = A::traits.alignment;
    rules.exclusive = !A::traits.recycles_unfreed;
    Pool pool;
    if constexpr (A::traits.pool == PoolLocation::own) {
      pool = allocator.own_pool();
    } else if (A::traits.pool == PoolLocation::arena && arena.has_pool()) {
      pool = arena.pool();
    }
    rules.pool_begin = pool.base;
    rules.pool_end = pool.base + pool.bytes;
    return rules;
  }

  std::vector<std::size_t> sizes_of(const Model& model) const {
    const std::size_t pool_bytes = heap(model).pool_bytes;
    const std::size_t most = allocbench::max_request<A>(pool_bytes, heap(model).parameters);
    std::vector<std::size_t> sizes;
    for (const Size& size : model.sizes) {
      const std::size_t bytes = size.pool_share != 0 ? pool_bytes / size.pool_share : size.bytes;
      const bool must_be_refused = bytes >= protocol::least_refused_bytes;
      sizes.push_back(must_be_refused ? bytes : std::max<std::size_t>(1, std::min(bytes, most)));
    }
    return sizes;
  }

  // Returns steps in which every lane frees the blocks of its neighbour. A lone lane frees its own blocks.
  static std::vector<Step> drain_steps(std::uint32_t slots, std::uint32_t lanes) {
    std::vector<Step> steps;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      steps.push_back({.action = Action::free, .slot = slot, .from = lanes > 1 ? 1u : 0u});
    }
    return steps;
  }

  static bool demands_conservation(const Model& model) {
    return A::traits.frees == Frees::individually && model.single_size() && !A::traits.whole_warp_calls;
  }

  static constexpr bool keeps_sessions = requires(A & allocator, simt::Thread& thread) { allocator.attach(thread); };
  static constexpr bool has_reset = requires(A & allocator, simt::Stream& stream) { allocator.reset(stream); };

  static void make_new(simt::Stream& stream, A& allocator) {
    if constexpr (has_reset) allocator.reset(stream);
  }

  // Returns whether a lone lane must get the promised blocks of every size at the end of the model.
  static bool judged_alone(const Model& model) { return model.resets || model.refills; }

  static constexpr std::uint32_t warp_lanes = 32;

  // Filling has the number of lanes that fill a heap, and the number of blocks that each lane requests. A lone lane
  // stops at the first null pointer.
  struct Filling {
    std::uint32_t slots;
    std::uint32_t lanes = 1;
  };

  // Returns a filling of more blocks than the heap has, or of at least 4,096 blocks if the heap may have more.
  Filling whole_heap(const Model& model, std::size_t bytes) const {
    constexpr std::size_t most = 4096;
    const auto blocks = static_cast<std::uint32_t>(std::min(most, heap(model).pool_bytes / bytes + 1));
    return A::traits.whole_warp_calls ? by_a_warp(blocks) : Filling{blocks};
  }

  // Returns a filling by a warp, which requests at least this many blocks.
  static Filling by_a_warp(std::uint32_t blocks) { return {blocks / warp_lanes + 1, warp_lanes}; }

  std::uint32_t blocks_of_fresh_heap(const Model& model, const simt::ExecutorOptions& options, std::size_t bytes,
                                     const std::vector<Filling>& fillings, std::string& verdict) const {
    simt::Device device(options);
    simt::Stream stream(device);
    Arena arena(stream, heap(model).pool_bytes);
    Instance instance{A::create(arena, heap(model).parameters)};
    ShadowHeap oracle(rules(arena, instance.allocator));
    RunRecord record;
    try {
      for (const Filling filling : fillings) fill(stream, instance.allocator, bytes, filling, oracle, record, false);
    } catch (const simt::Fault&) {
      // The models report such faults themselves. Here a fault only means that there is no number for a comparison.
      if (verdict.empty()) verdict = oracle.verdict();
      return 0;
    }
    return static_cast<std::uint32_t>(oracle.mallocs());
  }

  // Returns a text if a fresh heap serves fewer blocks than promised, or if the oracle finds a mistake. Ignores a heap
  // that serves no block: usually its launch ended with a fault, which the models report.
  std::string lack_of_fresh_heap(const Model& model, const simt::ExecutorOptions& options) const {
    const std::uint32_t promised = heap(model).serves_new;
    if (promised == 0) return {};
    std::string verdict;
    const std::uint32_t alone = blocks_of_fresh_heap(model, options, 16, {whole_heap(model, 16)}, verdict);
    if (!verdict.empty() || alone == 0 || alone >= promised) return verdict;
    return "it serves " + std::to_string(alone) + " blocks of 16 bytes, and the design has " + std::to_string(promised);
  }

  static void fill(simt::Stream& stream, A& allocator, std::size_t bytes, Filling filling, ShadowHeap& oracle,
                   RunRecord& record, bool frees) {
    const Mailboxes boxes(stream, filling.slots, filling.lanes);
    std::vector<Step> steps;
    for (std::uint32_t slot = 0; slot < filling.slots; ++slot) {
      steps.push_back({.action = Action::malloc, .slot = slot});
    }
    const std::vector<std::size_t> sizes = {bytes};
    Program program = boxes.program(steps, sizes, oracle);
    // Null pointers of an earlier filling do not count.
    if (filling.lanes == 1) program.last_null = oracle.refusals() + 1;
    launch(stream, {1, filling.lanes}, allocator, program, record);
    if (!frees || !oracle.verdict().empty()) return;
    const std::vector<Step> drain = drain_steps(filling.slots, filling.lanes);
    launch(stream, {1, filling.lanes}, allocator, boxes.program(drain, sizes, oracle), record);
  }

  // Requests the promised share of the blocks that a fresh heap serves. No other lane runs, so a null pointer means
  // that memory was lost.
  void refill(simt::Stream& stream, A& allocator, const Model& model, std::size_t bytes, std::uint32_t capacity,
              ShadowHeap& oracle, RunRecord& record) const {
    if (model.resets) make_new(stream, allocator);
    const auto promised = static_cast<std::uint32_t>(refilled_share(model) * capacity);
    if (promised == 0) return;
    fill(stream, allocator, bytes, {promised}, oracle, record, !model.resets);
    if (oracle.verdict().empty() && oracle.mallocs() < promised) {
      const char* loss = model.resets          ? "not new after reset()"
                         : model.single_size() ? "lost forever"
                                               : "lost when sizes change";
      const char* when = model.resets          ? "after reset() it gets"
                         : model.single_size() ? "after all blocks were freed it gets"
                                               : "after blocks of another size were freed it gets";
      oracle.complain(std::string(loss) + ": one lane alone gets " + std::to_string(capacity) + " blocks of " +
                      std::to_string(bytes) + " bytes from a fresh heap; " + when + " only " +
                      std::to_string(oracle.mallocs()));
    }
    judge_end(stream, allocator, oracle);
  }

  // Returns the share of a fresh heap that must be served again. If the model has several sizes, each size but one may
  // keep the share 1 - `serves_other_sizes`.
  double refilled_share(const Model& model) const {
    if (model.resets) return 1;
    const SmallHeap<typename A::Parameters>& small = heap(model);
    if (model.single_size()) return small.serves_again;
    const double kept = (1 - small.serves_other_sizes) * static_cast<double>(model.sizes.size() - 1);
    return std::max(0.0, 1 - kept);
  }

  // Checks that a heap after a reset serves a warp and then one lane at least half as many blocks as a fresh heap. The
  // exact number depends on the schedule, and only 32 schedules of the fresh heap are tried.
  void refill_together(simt::Stream& stream, A& allocator, std::size_t bytes, std::uint32_t alone,
                       std::uint32_t together, ShadowHeap& oracle, RunRecord& record) const {
    constexpr double certain_share = 0.5;
    make_new(stream, allocator);
    fill(stream, allocator, bytes, by_a_warp(alone), oracle, record, false);
    if (oracle.verdict().empty()) fill(stream, allocator, bytes, {alone}, oracle, record, false);
    if (oracle.verdict().empty() && oracle.mallocs() < static_cast<std::uint32_t>(certain_share * together)) {
      oracle.complain("not new after reset(): a warp and then one lane get at least " + std::to_string(together) +
                      " blocks of " + std::to_string(bytes) + " bytes from a fresh heap; after reset() they get only " +
                      std::to_string(oracle.mallocs()));
    }
    judge_end(stream, allocator, oracle);
  }

  // Returns the number of blocks that a lone lane must get again after `lived` blocks were in use together. A fresh
  // heap serves `alone` blocks to a lone lane. If lanes share units that a lone lane cannot share, more blocks can be
  // in use together than one lane can ever get.
  std::uint32_t promised_again(const Model& model, std::size_t lived, std::uint32_t alone) const {
    const double share = heap(model).serves_again * static_cast<double>(lived);
    return static_cast<std::uint32_t>(alone == 0 ? share : std::min(share, static_cast<double>(alone)));
  }

  // A lone lane requests as many blocks as the design promises. No other lane runs, so a null pointer means that the
  // heap has lost memory.
  static void serve_again(simt::Stream& stream, A& allocator, std::size_t bytes, std::uint32_t count,
                          ShadowHeap& oracle, RunRecord& record) {
    const Mailboxes boxes(stream, count, 1);
    std::vector<Step> steps;
    for (std::uint32_t slot = 0; slot < count; ++slot) steps.push_back({.action = Action::malloc, .slot = slot});
    const std::vector<std::size_t> sizes = {bytes};
    const std::size_t refused_before = oracle.refusals();
    launch(stream, {1, 1}, allocator, boxes.program(steps, sizes, oracle), record);
    if (oracle.refusals() != refused_before) {
      oracle.complain("lost forever: " + std::to_string(count) + " blocks of " + std::to_string(bytes) +
                      " bytes once lived together; after all were freed, the empty heap serves only " +
                      std::to_string(oracle.live_blocks()));
      return;
    }
    const std::vector<Step> drain = drain_steps(count, 1);
    launch(stream, {1, 1}, allocator, boxes.program(drain, sizes, oracle), record);
  }

  static void judge_end(simt::Stream& stream, const A& allocator, ShadowHeap& oracle) {
    if (!oracle.verdict().empty()) return;
    if constexpr (requires { allocator.broken_invariant(stream); }) {
      const std::string broken = allocator.broken_invariant(stream);
      if (!broken.empty()) oracle.complain("invariant broken: " + broken);
    }
  }

  static void launch(simt::Stream& stream, simt::LaunchShape shape, A& allocator, const Program& program,
                     RunRecord& record) {
    simt::launch(stream, shape, RunProgram<A>{}, allocator, program);
    note_launch(stream.device(), record);
  }

  static void launch_at_once(simt::Stream& stream, std::uint32_t kernels, simt::LaunchShape shape, A& allocator,
                             const Program& program, RunRecord& record) {
    const RunProgram<A> kernel;
    std::vector<Program> programs(kernels, program);
    std::vector<std::array<const void*, 3>> arguments;
    for (std::uint32_t i = 0; i < kernels; ++i) {
      programs[i].first_rank = i * shape.blocks * shape.threads_per_block;
      arguments.push_back({&kernel, &allocator, &programs[i]});
    }
    std::vector<simt::KernelLaunch> launches;
    for (const auto& each : arguments) {
      launches.push_back({&stream, shape, simt::kernel_pointer<RunProgram<A>, A, Program>(), each});
    }
    simt::launch_kernels(launches);
    note_launch(stream.device(), record);
  }

  static void note_launch(const simt::Device& device, RunRecord& record) {
    const simt::LaunchReport& report = device.last_launch();
    record.steps += report.steps;
    record.strategy = report.strategy;
  }

  static void note(const ShadowHeap& oracle, RunRecord& record) {
    record.verdict = oracle.verdict();
    record.last_calls = oracle.last_calls();
    record.most_live_blocks = oracle.most_live_blocks();
    record.refusals = oracle.refusals();
  }

  std::string plugin_;
  const SmallHeap<typename A::Parameters>& heap(const Model& model) const {
    return heaps_[static_cast<std::size_t>(model.heap)];
  }

  const SmallHeap<typename A::Parameters> heaps_[3] = {allocbench::small_heap<A>(), allocbench::second_small_heap<A>(),
                                                       allocbench::heap_of_many_units<A>()};
};

template <class... Allocators>
void add_subjects(SubjectList& subjects, const char* plugin, AllocatorList<Allocators...>) {
  (subjects.add(std::make_unique<SubjectOf<Allocators>>(plugin)), ...);
}

}  // namespace allocbench::check
