// instantiate(): registers the allocators of one plug-in with every workload. Included by the generated plug-in units
// only, for nvcc and g++ alike; see the rules in registry.hpp.
#pragma once

#include <type_traits>

#include "harness/worker/cell_of.hpp"
#include "harness/worker/registry.hpp"
#include "workloads/all.hpp"

namespace allocbench::worker {

// Parameters of a workload. Defined in the table of the worker (cmake/plugin_table.cpp.in) once for all plug-ins: they
// do not depend on the allocator, and reading the fields of all workloads takes a fifth of the compile time of a unit.
template <class W>
typename W::Parameters workload_parameters(const ParameterValues& values);

template <class A>
class InstanceOf final : public AllocatorInstance {
 public:
  InstanceOf(simt::Stream& stream, std::size_t pool_bytes, const ParameterValues& parameters)
      : state_(stream, pool_bytes, make_parameters<typename A::Parameters>(parameters)) {}

  std::size_t pool_bytes() const override { return state_.setting.pool_bytes; }
  std::size_t metadata_bytes() const override { return state_.arena.metadata_bytes(); }
  double init_seconds() const override { return state_.init_seconds; }

  std::unique_ptr<Cell> open(const CellRequest& request) override { return open_among(AllWorkloads{}, request); }

 private:
  template <class... Workloads>
  std::unique_ptr<Cell> open_among(WorkloadList<Workloads...>, const CellRequest& request) {
    std::unique_ptr<Cell> cell;
    (void)((request.workload == Workloads::traits.name && (cell = open_one<Workloads>(request), true)) || ...);
    if (!cell) throw std::logic_error("no such workload: " + request.workload);
    return cell;
  }

  template <class W>
  std::unique_ptr<Cell> open_one(const CellRequest& request) {
    // What is not compiled costs no build time: forms of a design in applications, planted faults beside one test.
    if constexpr (A::traits.test_only && !std::is_same_v<W, AllocFree>) {
      throw CellFailure(Status::unsupported,
                        std::string(A::traits.display_name) + " is deliberately broken and runs in alloc_free only");
    } else if constexpr (A::traits.ablation && W::traits.application) {
      throw CellFailure(Status::unsupported,
                        std::string(A::traits.display_name) +
                            " is for micro tests; applications run with the design it is a form of");
    } else {
      return open_pair<W>(request);
    }
  }

  template <class W>
  std::unique_ptr<Cell> open_pair(const CellRequest& request) {
    RunSetting<A> setting = state_.setting;
    setting.seed = request.seed;
    try {
      const typename W::Parameters parameters = workload_parameters<W>(request.parameters);
      const std::string why = W::template unsupported<A>(parameters, setting);
      if (!why.empty()) throw CellFailure(Status::unsupported, why);
      auto run = std::make_unique<RunWith<A, W>>(parameters, setting, state_.stream);
      return std::make_unique<CellOf<A>>(state_, setting, request, W::traits, std::move(run));
    } catch (const std::invalid_argument& contradiction) {
      throw CellFailure(Status::unsupported, contradiction.what());
    }
  }

  AllocatorState<A> state_;
};

template <class A>
AllocatorEntry allocator_entry(const char* plugin) {
  static_assert(Allocator<A>, "the type does not satisfy the contract in allocators/contract/allocator.hpp");
  using Parameters = typename A::Parameters;
  return {.traits = A::traits,
          .plugin = plugin,
          .parameters = describe_parameters<Parameters>(),
          .device_heap_bytes =
              [](std::size_t pool_bytes, const ParameterValues& values) {
                return allocbench::device_heap_bytes<A>(pool_bytes, make_parameters<Parameters>(values));
              },
          .create = [](simt::Stream& stream, std::size_t pool_bytes,
                       const ParameterValues& values) -> std::unique_ptr<AllocatorInstance> {
            try {
              return std::make_unique<InstanceOf<A>>(stream, pool_bytes, values);
            } catch (const Unsupported& why) {
              throw CellFailure(Status::unsupported, why.what());
            }
          }};
}

template <class... Allocators>
void instantiate(Registry& registry, const char* plugin, AllocatorList<Allocators...>) {
  (registry.add(allocator_entry<Allocators>(plugin)), ...);
}

}  // namespace allocbench::worker
