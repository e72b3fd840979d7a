// This file resolves commands of the protocol. Names become entries of the registry, and parameters are checked against
// their descriptions. Every mistake is a protocol::Malformed.
#pragma once

#include "harness/worker/registry.hpp"
#include "protocol/command.hpp"

namespace allocbench::worker {

struct AllocatorRequest {
  const AllocatorType* entry = nullptr;
  ParameterValues parameters;
  std::size_t pool_bytes = 0;
};
AllocatorRequest resolve(const protocol::LoadAllocator& command, const Registry& registry);
VerificationLimits limits_of(const protocol::VerifyCell& command);
std::uint32_t samples_of(const protocol::SampleCell& command);
CellRequest resolve(const protocol::OpenCell& command, const Registry& registry);

}  // namespace allocbench::worker
