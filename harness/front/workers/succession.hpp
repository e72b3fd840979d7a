// Succession orders the worker processes: one ends, one measures, and the next one prepares.
//
// Two workers never have kernels on the device at the same time, and no other worker works during a sample:
// * A worker that was told to quit launches nothing. Its successor opens the device while the worker ends, unless the
//   device cannot be open twice.
// * A worker that was killed may have a running kernel. Its successor opens the device when the process is gone.
// * The next worker loads its plug-in and the driver while its predecessor opens the device, and then waits. Samples
//   are taken only after this loading.
//
// Only this process controls the workers, so a worker that crashes or hangs blocks no other worker.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/front/workers/worker_limits.hpp"
#include "harness/front/workers/worker_process.hpp"
#include "harness/front/workers/worker_program.hpp"

namespace allocbench::front {

class Succession {
 public:
  explicit Succession(WorkerProgram program, double load_seconds = load_limit_seconds)
      : program_(std::move(program)), load_seconds_(load_seconds) {}

  // Sets the arguments of the worker after the next one; empty means unknown.
  void expect(std::vector<std::string> arguments) { expected_ = std::move(arguments); }
  // Returns a worker with these arguments: the prepared one, or a new one. Then starts to prepare the expected next
  // worker, if one is known.
  std::unique_ptr<WorkerProcess> begin(const std::vector<std::string>& arguments);
  // Returns whether the worker of begin() was told to open the device before its predecessor was gone.
  bool began_early() const { return began_early_; }
  // Returns whether the worker of begin() had to wait. While it waited, its predecessor may have ended.
  bool waited() const { return waited_; }
  // Records that the device cannot be open twice.
  void begin_late() { may_be_early_ = false; }
  // Lets the worker of begin() continue, because its predecessor is gone.
  void hand_over(WorkerProcess& process);

  // Takes a worker that ends: it was told to quit after its last answer, or it was killed.
  void leave(std::unique_ptr<WorkerProcess> process, bool quits);
  bool has_leaving() const { return leaving_ != nullptr; }
  // Waits for the leaving worker, as WorkerProcess::finish() does.
  void see_off(double reap_seconds = reap_limit_seconds);

  // Waits until the prepared worker has loaded, but at most `most_seconds`. Drops a worker that fails or takes too
  // long. After a failure, its replacement reports the reason.
  void settle(const std::function<void()>& idle, double most_seconds);
  void drop() { prepared_.reset(); }

 private:
  void prepare();

  WorkerProgram program_;
  double load_seconds_;
  std::unique_ptr<WorkerProcess> leaving_;
  bool leaving_quits_ = false;
  bool may_be_early_ = true;
  bool began_early_ = false;
  bool waited_ = false;
  int lines_awaited_ = 0;  // lines that the worker of begin() still waits for
  std::vector<std::string> expected_;
  std::unique_ptr<WorkerProcess> prepared_;
  std::vector<std::string> prepared_with_;
  bool loads_ = false;  // whether the prepared worker is still loading
};

}  // namespace allocbench::front
