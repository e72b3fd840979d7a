// This is the worker's side of the protocol in harness/README.md. It reads commands from a stream and writes events.
#pragma once

#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "harness/worker/backend.hpp"
#include "harness/worker/nvml.hpp"
#include "harness/worker/process_state.hpp"
#include "harness/worker/registry.hpp"
#include "protocol/command.hpp"
#include "protocol/event.hpp"
#include "protocol/line_writer.hpp"

namespace allocbench::worker {

class Server {
 public:
  // Keeps references to all arguments, which must outlive this object.
  Server(const Registry& registry, Backend& backend, const Nvml& nvml, const protocol::LineWriter& events,
         ProcessState& process);

  // Announces `ready`, then answers commands until `quit`, the end of input, a malformed command or a fatal failure.
  // Returns the exit code of the process.
  int serve(std::istream& commands);

 private:
  using Event = protocol::Event;

  // A cell with the name of its runs in Google Benchmark.
  struct OpenCell {
    std::string name;  // "allocator/workload"
    std::unique_ptr<Cell> cell;
    double energy_seconds = 0;  // seconds of energy still to be measured; 0: none
  };

  void write(const Event& event) const;
  Event ready() const;
  Event answer(const protocol::LoadAllocator& command);
  Event answer(const protocol::OpenCell& command);
  Event answer(const protocol::VerifyCell& command);
  Event answer(const protocol::SampleCell& command);
  Event answer(const protocol::CloseCell& command);
  Event answer(const protocol::AskProfile& command);
  // Measures one repetition of the cell, and the clock, temperature and throttling of the device. `seconds` gets the
  // time of the repetition.
  protocol::Sample sample(OpenCell& cell, const std::string& id, const StageListener& stages, double& seconds);
  // Returns a listener that writes the stages of work on a cell as events. The listener is empty if `wanted` is false.
  StageListener listener(const std::string& cell, bool wanted) const;
  // Adds the energy of a repetition to the cell's first sample, if the device counts energy.
  void add_energy(OpenCell& cell, protocol::Sample& sample);
  // Returns the answer of `work`, or `failed` if `work` throws an exception that is a result of the cell.
  template <class Work>
  Event attempt(const std::optional<std::string>& cell, Work&& work);
  OpenCell& open_cell(const std::string& id);

  const Registry& registry_;
  Backend& backend_;
  const protocol::LineWriter& events_;
  simt::DeviceProperties properties_;
  ProcessState& process_;
  const Nvml& nvml_;
  const AllocatorType* allocator_ = nullptr;
  std::unique_ptr<AllocatorInstance> instance_;
  std::map<std::string, OpenCell> cells_;  // cells by id; destroyed before the instance
  bool fatal_ = false;
};

}  // namespace allocbench::worker
