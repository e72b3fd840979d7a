// AllocatorRig is an allocator with the kernels of a test, on its own CPU device.
#pragma once

#include "tests/workloads/cpu_device.hpp"
#include "workloads/support/contract/export.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/verification/pointer_rules.hpp"

namespace allocbench::test {

// Returns A with the kernels of these lists.
template <class A, class... Lists>
const AllocatorType& tested_type() {
  static const AllocatorType type = [] {
    AllocatorType result = allocator_type<A>("test");
    (result.add_kernels(kernels_for<A, Lists>()), ...);
    return result;
  }();
  return type;
}

// Returns the values of a parameter struct. This function is the inverse of make_parameters().
template <class Parameters>
ParameterValues parameter_values(const Parameters& parameters) {
  ParameterValues values;
  std::apply(
      [&](const auto&... field) { (values.emplace_back(field.name, detail::to_value(parameters.*field.member)), ...); },
      Parameters::fields());
  return values;
}

class AllocatorRig {
 public:
  // `seed` is used for the schedule and for the setting.
  AllocatorRig(const AllocatorType& type, std::size_t pool_bytes, const ParameterValues& parameters = {},
               std::uint64_t seed = 7, std::uint32_t sms = 4)
      : cpu_(seed, sms),
        arena_(cpu_.stream, pool_bytes),
        setting{.allocator = type, .pool_bytes = pool_bytes, .parameters = parameters, .seed = seed},
        allocator(type, arena_, parameters) {
    add_room(rules, setting);
    if (type.traits.pool == PoolLocation::device_heap) return;
    rules.pool_begin = reinterpret_cast<std::uint64_t>(pool().base);
    rules.pool_end = rules.pool_begin + pool().bytes;
  }

  simt::Stream& stream() { return cpu_.stream; }
  Pool pool() { return arena_.pool(); }

 private:
  CpuDevice cpu_;
  Arena arena_;

 public:
  RunSetting setting;
  AllocatorHandle allocator;
  PointerRules rules;
};

// Returns why workload W cannot run with allocator A, or an empty text.
template <class W, class A>
std::string why_unsupported(const typename W::Parameters& parameters, std::size_t pool_bytes = 1 << 20,
                            const typename A::Parameters& allocator_parameters = {}) {
  return W::unsupported(parameters, {.allocator = tested_type<A>(),
                                     .pool_bytes = pool_bytes,
                                     .parameters = parameter_values(allocator_parameters),
                                     .seed = 1});
}

}  // namespace allocbench::test
