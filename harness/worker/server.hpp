// The worker's side of the protocol in harness/README.md: commands from a stream, events to a writer.
#pragma once

#include <istream>
#include <map>
#include <memory>
#include <string>

#include "harness/worker/backend.hpp"
#include "harness/worker/event_writer.hpp"
#include "harness/worker/nvml.hpp"
#include "harness/worker/registry.hpp"

namespace allocbench::worker {

// Exit codes that the protocol names.
inline constexpr int exit_environment = 3;
inline constexpr int exit_protocol_error = 64;
inline constexpr int exit_fatal = 70;

class Server {
 public:
  Server(const Registry& registry, Backend& backend, EventWriter& events);

  // Announces `ready`, then answers commands until `quit` or the end of input. Returns the exit code of the process.
  int serve(std::istream& commands);

 private:
  using Json = nlohmann::json;
  using Event = nlohmann::ordered_json;

  // A cell with the names that its answers and measurements carry.
  struct OpenCell {
    std::string name;  // "allocator/workload"
    std::unique_ptr<Cell> cell;
  };

  Event ready() const;
  Event answer(const Json& command);
  Event create_allocator(const Json& command);
  Event open(const Json& command);
  Event verify(const Json& command);
  Event sample(const Json& command);
  Event close(const Json& command);
  // The answer of `work`, or `failed` when it throws something that is a result.
  template <class Work>
  Event attempt(const Json& command, Work&& work);
  OpenCell& cell_of(const Json& command);

  const Registry& registry_;
  Backend& backend_;
  EventWriter& events_;
  simt::DeviceProperties properties_;
  Nvml nvml_;
  const AllocatorType* allocator_ = nullptr;
  std::unique_ptr<AllocatorInstance> instance_;
  std::map<std::string, OpenCell> cells_;  // by hash; destroyed before the instance
  bool ending_ = false;
  bool fatal_ = false;
};

}  // namespace allocbench::worker
