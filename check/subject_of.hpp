// SubjectOf<A>: runs models on allocator A. Included by the generated check units only.
#pragma once

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
  std::size_t device_heap_bytes() const override {
    return allocbench::device_heap_bytes<A>(small_.pool_bytes, small_.parameters);
  }

  std::string unsupported(const Model& model) const override {
    if (A::traits.whole_warp_calls && model.has_partial_warps()) return "all lanes of a warp must call together";
    return {};
  }

  void run(simt::Device& device, const Model& model, RunRecord& record) const override {
    simt::Stream stream(device);
    Arena arena(stream, small_.pool_bytes);
    A allocator = A::create(arena, small_.parameters);
    record.first_launch = device.launches();
    ShadowHeap oracle(rules(arena));
    const auto keep = [&](auto&& body) {
      try {
        body();
      } catch (const simt::Fault&) {
        note_launch(device, record);
        note(oracle, record);
        throw;
      }
      note(oracle, record);
    };
    const std::vector<std::size_t> sizes = sizes_of(model);
    keep([&] {
      Mailboxes boxes(stream, model.slots(), model.lanes());
      Program program = boxes.program(model.steps, sizes, oracle);
      program.rounds = model.rounds;
      program.null_is_failure = model.null_is_failure;
      const simt::LaunchShape shape{model.blocks, model.threads_per_block};
      for (std::uint32_t i = 0; i < model.launches; ++i) launch(stream, shape, allocator, program, record);
      if (A::traits.frees == Frees::individually) {
        const std::vector<Step> drain = drain_steps(model.slots(), model.lanes());
        launch(stream, shape, allocator, boxes.program(drain, sizes, oracle), record);
      }
      judge_end(stream, allocator, oracle);
    });
    const auto again = static_cast<std::uint32_t>(small_.serves_again * static_cast<double>(oracle.most_live_blocks()));
    if (!oracle.verdict().empty() || !demands_conservation(model) || again == 0) return;
    keep([&] {
      serve_again(stream, allocator, sizes.front(), again, oracle, record);
      judge_end(stream, allocator, oracle);
    });
  }

 private:
  // The table through which lanes pass blocks on.
  class Mailboxes {
   public:
    Mailboxes(simt::Stream& stream, std::uint32_t slots, std::uint32_t lanes)
        : words_(std::size_t{slots} * lanes), slots_(slots), lanes_(lanes) {
      words_.fill_bytes(stream, 0);
    }
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

  BlockRules rules(Arena& arena) const {
    BlockRules rules;
    rules.alignment = A::traits.alignment;
    rules.exclusive = !A::traits.recycles_unfreed;
    if (A::traits.pool == PoolLocation::arena && arena.has_pool()) {
      rules.pool_begin = arena.pool().base;
      rules.pool_end = rules.pool_begin + arena.pool().bytes;
    }
    return rules;
  }

  std::vector<std::size_t> sizes_of(const Model& model) const {
    const std::size_t most = allocbench::max_request<A>(small_.pool_bytes, small_.parameters);
    std::vector<std::size_t> sizes;
    for (const Size& size : model.sizes) {
      const std::size_t bytes = size.pool_share != 0 ? small_.pool_bytes / size.pool_share : size.bytes;
      sizes.push_back(std::max<std::size_t>(1, std::min(bytes, most)));
    }
    return sizes;
  }

  // Every lane frees what its neighbour holds.
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

  // One lane alone asks for as many blocks as once lived together (or the share of them that the design promises): with
  // nobody to race with, a null pointer means that the heap has lost memory for ever.
  static void serve_again(simt::Stream& stream, A& allocator, std::size_t bytes, std::uint32_t count,
                          ShadowHeap& oracle, RunRecord& record) {
    const Mailboxes boxes(stream, count, 1);
    std::vector<Step> steps;
    for (std::uint32_t slot = 0; slot < count; ++slot) steps.push_back({.action = Action::malloc, .slot = slot});
    const std::vector<std::size_t> sizes = {bytes};
    const std::size_t refused_before = oracle.refusals();
    launch(stream, {1, 1}, allocator, boxes.program(steps, sizes, oracle), record);
    if (oracle.refusals() != refused_before) {
      oracle.complain("lost for ever: " + std::to_string(count) + " blocks of " + std::to_string(bytes) +
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
  SmallHeap<typename A::Parameters> small_ = allocbench::small_heap<A>();
};

template <class... Allocators>
void add_subjects(SubjectList& subjects, const char* plugin, AllocatorList<Allocators...>) {
  (subjects.add(std::make_unique<SubjectOf<Allocators>>(plugin)), ...);
}

}  // namespace allocbench::check
