#include "harness/worker/describe.hpp"

#include <iterator>
#include <sstream>

#include "harness/worker/backend.hpp"
#include "harness/worker/metrics.hpp"
#include "protocol/sources.hpp"

namespace allocbench::worker {
namespace {

const char* word(Frees frees) {
  switch (frees) {
    case Frees::never:
      return "never";
    case Frees::individually:
      return "individually";
    case Frees::in_bulk:
      return "in_bulk";
  }
  return "";
}

const char* word(Form form) {
  switch (form) {
    case Form::published:
      return "published";
    case Form::reworked:
      return "reworked";
    case Form::own:
      return "own";
    case Form::ablation:
      return "ablation";
    case Form::original:
      return "original";
    case Form::delayed:
      return "delayed";
  }
  return "";
}

const char* word(PoolLocation pool) {
  switch (pool) {
    case PoolLocation::arena:
      return "arena";
    case PoolLocation::device_heap:
      return "device_heap";
    case PoolLocation::arena_and_device_heap:
      return "arena_and_device_heap";
    case PoolLocation::own:
      return "own";
  }
  return "";
}

// Returns the limits of the allocator that its users must know.
std::vector<std::string> restrictions(const Traits& traits) {
  std::vector<std::string> told;
  if (traits.frees == Frees::never) told.emplace_back("free does nothing");
  if (traits.frees == Frees::in_bulk) told.emplace_back("frees only all blocks of a session together");
  if (traits.recycles_unfreed) told.emplace_back("reuses blocks that were not freed");
  if (traits.one_block_size) told.emplace_back("serves one size of block only");
  if (traits.whole_warp_calls) told.emplace_back("requires that all lanes of a warp call together");
  switch (traits.pool) {
    case PoolLocation::arena:
      break;
    case PoolLocation::device_heap:
      told.emplace_back("takes blocks from the CUDA device heap, which is sized before the first kernel");
      break;
    case PoolLocation::arena_and_device_heap:
      told.emplace_back("takes large blocks from the CUDA device heap, which is sized before the first kernel");
      break;
    case PoolLocation::own:
      told.emplace_back("takes its own memory instead of the pool");
      break;
  }
  return told;
}

protocol::AllocatorDescription describe(const AllocatorType& allocator) {
  const Traits& traits = allocator.traits;
  return {.name = std::string(traits.name),
          .display_name = std::string(traits.display_name),
          .paper = std::string(traits.paper),
          .summary = std::string(traits.summary),
          .form = word(traits.form),
          .based_on = std::string(traits.based_on),
          .plugin = allocator.plugin,
          .frees = word(traits.frees),
          .alignment = traits.alignment,
          .pool = word(traits.pool),
          .fresh = traits.fresh == Fresh::by_reset ? "reset" : "process",
          .keeps_device_heap = traits.keeps_device_heap,
          .test_only = traits.test_only,
          .restrictions = restrictions(traits),
          .parameters = allocator.parameters};
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream words{std::string(text)};
  return {std::istream_iterator<std::string>(words), {}};
}

protocol::WorkloadDescription describe(const WorkloadType& workload) {
  const WorkloadTraits& traits = workload.traits;
  return {.name = std::string(traits.name),
          .display_name = std::string(traits.display_name),
          .paper = std::string(traits.paper),
          .summary = std::string(traits.summary),
          .phases = words_of(traits.phases),
          .untimed_kernels = words_of(traits.untimed_kernels),
          .null_expected = traits.null_expected,
          .parameters = workload.parameters};
}

}  // namespace

protocol::WorkerDescription describe(const Registry& registry) {
  const protocol::Sources sources = protocol::program_sources();
  protocol::WorkerDescription worker{.backend = backend_name(),
                                     .revision = sources.revision,
                                     .measured_revision = sources.measured_revision,
                                     .compiler = compiler_text(),
                                     .allocators = {},
                                     .workloads = {},
                                     .metrics = metrics(),
                                     .plugins = registry.files(),
                                     .broken_plugins = registry.broken()};
  for (const auto& allocator : registry.allocators()) worker.allocators.push_back(describe(*allocator));
  for (const WorkloadType& workload : registry.workloads()) worker.workloads.push_back(describe(workload));
  return worker;
}

}  // namespace allocbench::worker
