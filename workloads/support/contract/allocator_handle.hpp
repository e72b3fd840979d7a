// AllocatorHandle is one allocator instance as workloads use it. Kernels receive the allocator by value in one of three
// forms: bare, aligned or observed.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <tuple>
#include <typeinfo>
#include <vector>

#include "allocators/support/adaptors/aligned.hpp"
#include "allocators/support/adaptors/checked.hpp"
#include "allocators/support/adaptors/counted.hpp"
#include "allocators/support/adaptors/failing.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/allocator_type.hpp"
#include "workloads/support/contract/filled_pool.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/contract/parallel_streams.hpp"
#include "workloads/support/contract/stages.hpp"
#include "workloads/support/contract/traits.hpp"

namespace allocbench {

class TraceRecorder;

class AllocatorHandle {
 public:
  // Creates the allocator on the arena. The arena must outlive the handle and its copies. The last copy destroys the
  // allocator. May throw Unsupported or simt::Fault.
  AllocatorHandle(const AllocatorType& type, Arena& arena, const ParameterValues& parameters);

  // After the deadline, calls of observed forms end their threads (allocators/support/adaptors/counted.hpp). The
  // allocator must then be reset.
  void end_calls_at(const simt::DeadlineView& deadline);
  const simt::DeadlineView& deadline() const { return deadline_; }

  const AllocatorType& type() const { return *type_; }
  const Traits& traits() const { return type_->traits; }

  // Returns the same allocator for verification passes, which check the contents of blocks and count calls. A ledger
  // with null pointers observes nothing.
  AllocatorHandle observed(const CallLedger& calls, const ContentLedger& contents) const;
  // Returns the same allocator for calls outside the measurement. If it is observed, the result still checks contents,
  // but does not count calls.
  AllocatorHandle uncounted() const;
  bool is_observed() const { return is_observed_; }
  // Returns the ledger that observed() got. Its pointers are null if no contents are checked.
  const ContentLedger& contents() const { return contents_; }
  // Returns the same allocator, but some mallocs are refused. The contents of blocks are checked if this handle checks
  // them, and nothing is counted.
  AllocatorHandle failing(const FailureRule& failures) const;
  // Returns the same allocator without observation, recorded calls and refused mallocs.
  AllocatorHandle bare() const;
  // Returns the same allocator with recorded calls. Each launch waits for its kernel, which becomes one kernel of the
  // trace. The recorder must outlive the handle and its copies. A launch throws CellFailure if the plug-in has no
  // tracing form of the kernel.
  AllocatorHandle traced(TraceRecorder& recorder) const;
  // Returns the same allocator with blocks at multiples of `alignment`, a power of two. The normal kernels are used if
  // the design guarantees this alignment for requests of these sizes. Otherwise timed launches use the kernels that the
  // list marks as AlignedKernelOn, and observed launches align in their usual kernels.
  AllocatorHandle aligned(std::uint32_t alignment, std::span<const std::uint64_t> sizes) const;
  // Returns the bytes that the alignment adds to each request.
  std::size_t alignment_surplus() const { return surplus_of_alignment(traits().alignment, alignment_); }
  // Returns the same allocator for a sample after which the allocator is reset. The workload may then skip work that
  // only prepares the next sample, such as the frees of the blocks that fill the pool.
  AllocatorHandle reset_afterwards() const;
  bool is_reset_afterwards() const { return is_reset_afterwards_; }
  // Returns the same allocator with a begin() that passes the stage to `stages`. fill() also calls begin(). `stages`
  // must outlive the handle and its copies.
  AllocatorHandle telling(Stages& stages) const;
  void begin(Stage stage) const {
    if (stages_ != nullptr) stages_->begin(stage);
  }

  // Returns the allocator to the state of a new one. The design must have the trait Fresh::by_reset.
  void reset(simt::Stream& stream) const;
  // Returns whether blocks of requests up to this size are always in the arena. Without a size, this means requests of
  // any size.
  bool leaves_device_heap_alone(std::optional<std::uint64_t> largest_request) const;
  // Fills the pool with these requests. make(begin, end) makes the requests of one launch and stores their blocks in
  // blocks[begin] to blocks[end - 1], in device memory. If the allocator is fresh and a copy of the filled memory
  // exists, the copy is restored instead. No copy is used if calls are counted or refused, or if the design cannot be
  // reset or may serve these requests outside the arena. A copy of a less full pool replaces only the first launches.
  // put_back(count) gets the number of restored blocks, because no ledger knows them.
  template <class PutBack, class Make>
  void fill(const FilledPool::Requests& requests, void** blocks, const PutBack& put_back, const Make& make) const {
    const bool fresh = instance_->fresh && may_start_from_copy(requests);
    std::size_t done = fresh ? restore(requests, blocks) : 0;
    if (done != 0) put_back(done);
    const FilledPool::Requests whole = requests.whole_launches();
    if (done < requests.count) begin(Stage::fill);
    while (done < requests.count) {
      const std::size_t end = requests.end_of_launch(done);
      make(done, end);
      done = end;
      if (fresh && done == requests.count) keep(requests, blocks);
      if (fresh && done == whole.count && instance_->filled.has_room_for_many(instance_->arena, whole)) {
        keep(whole, blocks);
      }
    }
  }
  // Drops the copies of fill(), so that its next call makes the requests again. Use this after a failed pass.
  void forget_filled() const { instance_->filled.clear(); }
  // Returns the library's own pool if the design has PoolLocation::own; otherwise the result is empty.
  Pool own_pool() const;
  // Returns the first broken invariant, or an empty text if all hold or the design states none.
  std::string broken_invariant(simt::Stream& stream) const;
  // These functions require type().marks_pages().
  std::uint32_t page_count() const { return type_->functions.page_count(bytes_.get()); }
  void occupy(simt::Stream& stream, const PageSet& used) const {
    instance_->fresh = false;
    type_->functions.occupy(bytes_.get(), stream, used);
  }

  // Launches a kernel of the workload's list on this allocator.
  template <class Kernels, class Kernel, class... Arguments>
  void launch(simt::Stream& stream, simt::LaunchShape shape, Kernel kernel, Arguments... arguments) const {
    static_assert(lists_kernel<Kernels, Kernel, Arguments...>, "no such kernel in the workload's list");
    instance_->fresh = false;
    const std::type_info& kernel_type = typeid(KernelOn<Kernel, Arguments...>);
    if (recorder_ != nullptr) begin_traced(kernel_type);
    const bool observed = is_observed_ || lists_untimed_kernel<Kernels, Kernel, Arguments...>;
    const Form form = form_of<Kernels, Kernel, Arguments...>(observed);
    const std::array<const void*, 2 + sizeof...(Arguments)> pointers{&kernel, form.allocator, &arguments...};
    simt::launch_kernel(stream, shape, form.kernel, pointers);
    if (recorder_ != nullptr) end_traced(typeid(Kernel), shape);
  }
  // Launches the same kernel several times at once, each with its own arguments and stream, after all earlier work on
  // `stream`. Later work on `stream` waits for all of them. While calls are traced, the launches run one after the
  // other.
  template <class Kernels, class Kernel, class... Arguments>
  void launch_together(simt::Stream& stream, ParallelStreams& others, simt::LaunchShape shape,
                       const std::vector<std::tuple<Kernel, Arguments...>>& launches) const {
    static_assert(lists_kernel<Kernels, Kernel, Arguments...>, "no such kernel in the workload's list");
    if (recorder_ != nullptr) {
      for (const auto& each : launches) {
        std::apply([&](const auto&... values) { launch<Kernels>(stream, shape, values...); }, each);
      }
      return;
    }
    instance_->fresh = false;
    const Form form = form_of<Kernels, Kernel, Arguments...>(is_observed_);
    std::vector<std::array<const void*, 2 + sizeof...(Arguments)>> pointers;
    for (const auto& each : launches) {
      pointers.push_back(std::apply(
          [&](const Kernel& kernel, const auto&... values) -> std::array<const void*, 2 + sizeof...(Arguments)> {
            return {&kernel, form.allocator, &values...};
          },
          each));
    }
    std::vector<simt::KernelLaunch> all;
    for (std::size_t i = 0; i < pointers.size(); ++i) all.push_back({&others[i], shape, form.kernel, pointers[i]});
    others.fork(stream, all.size());
    simt::launch_kernels(all);
    others.join(stream, all.size());
  }

 private:
  using Bytes = std::shared_ptr<std::byte[]>;
  // Instance is the data that all copies of the handle share.
  struct Instance {
    Arena& arena;
    ParameterValues parameters;
    bool fresh = true;  // no kernel has used the allocator since it was created or reset
    FilledPools filled = {};
  };

  // Form is a compiled kernel with the allocator that it takes.
  struct Form {
    simt::KernelPointer kernel;
    const void* allocator = nullptr;
  };
  template <class Kernels, class Kernel, class... Arguments>
  Form form_of(bool observed) const {
    if (alignment_ != 0 && !observed) {
      if constexpr (lists_aligned_kernel<Kernels, Kernel, Arguments...>) {
        return {type_->kernel(typeid(AlignedKernelOn<Kernel, Arguments...>), false), aligned_.get()};
      }
      throw std::logic_error("the workload's list has no aligned form of a kernel");
    }
    return {type_->kernel(typeid(KernelOn<Kernel, Arguments...>), observed), observed ? observed_.get() : bytes_.get()};
  }

  void observe(const CallLedger& calls);
  void begin_traced(const std::type_info& kernel_type) const;
  void end_traced(const std::type_info& kernel, simt::LaunchShape shape) const;
  bool may_start_from_copy(const FilledPool::Requests& requests) const;
  // Returns the number of requests whose blocks were restored.
  std::size_t restore(const FilledPool::Requests& requests, void** blocks) const;
  void keep(const FilledPool::Requests& requests, void* const* blocks) const;

  const AllocatorType* type_;
  std::shared_ptr<Instance> instance_;
  Bytes bytes_;
  Bytes observed_;    // its ledgers are empty unless the allocator is observed
  CallLedger calls_;  // ledger in observed_
  Bytes aligned_;     // null without an alignment
  std::uint32_t alignment_ = 0;
  ContentLedger contents_;
  FailureRule failures_;
  simt::DeadlineView deadline_;
  bool is_observed_ = false;
  bool counts_ = false;
  bool is_reset_afterwards_ = false;
  Stages* stages_ = nullptr;
  TraceRecorder* recorder_ = nullptr;
};

// Returns a compiled kernel of a workload's list, to query its attributes and the number of its resident blocks.
template <class Kernels, class Kernel, class... Arguments>
simt::KernelPointer kernel_of(const AllocatorType& type) {
  static_assert(lists_kernel<Kernels, Kernel, Arguments...>, "no such kernel in the workload's list");
  return type.kernel(typeid(KernelOn<Kernel, Arguments...>), false);
}

// Returns the registers and memory of this kernel under the name of its phase.
template <class Kernels, class Kernel, class... Arguments>
KernelInfo kernel_info(std::string phase, const AllocatorType& type) {
  return {std::move(phase), simt::kernel_attributes(kernel_of<Kernels, Kernel, Arguments...>(type))};
}

}  // namespace allocbench
