// Worker processes one after the other: one ends, one measures, the next one gets ready.
//
// Two of them never have kernels on the device, and nothing happens beside a sample:
//   * A worker that was told to quit launches nothing. The one after it opens the device while it ends.
//   * A worker that was killed may have a kernel running. The one after it opens the device when it is gone.
//   * The next worker loads its plug-in and the driver while the one before it opens the device, and waits. Samples are
//     taken only when it has loaded.
// Only this process knows which worker may do what, so a worker that crashes or hangs holds nothing that others wait
// for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/front/run/supervisor_limits.hpp"
#include "harness/front/run/worker_process.hpp"
#include "harness/front/run/worker_program.hpp"

namespace allocbench::front {

class Succession {
 public:
  explicit Succession(WorkerProgram program, double load_seconds = load_limit_seconds)
      : program_(std::move(program)), load_seconds_(load_seconds) {}

  // The arguments of the worker after the one that begins next; none: not known.
  void expect(std::vector<std::string> arguments) { expected_ = std::move(arguments); }
  // A worker with these arguments: the one that was prepared, or a new one. Prepares the expected one.
  std::unique_ptr<WorkerProcess> begin(const std::vector<std::string>& arguments);
  // Whether it was told to open the device before the last one was gone.
  bool began_early() const { return began_early_; }
  // Whether it had to wait; the worker may have ended while it did.
  bool waited() const { return waited_; }
  // The device refused to be open twice.
  void begin_late() { may_be_early_ = false; }
  // Lets the worker of begin() go on: the last one is gone.
  void hand_over(WorkerProcess& process);

  // The worker ends: it was told to quit, having answered everything else, or was killed.
  void leave(std::unique_ptr<WorkerProcess> process, bool quits);
  bool has_leaving() const { return leaving_ != nullptr; }
  // Waits for it, as WorkerProcess::finish() does.
  void see_off(double reap_seconds = reap_limit_seconds);

  // Waits until the prepared worker has loaded. One that fails is dropped: the worker in its place says why.
  void settle(const std::function<void()>& idle);
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
  int lines_awaited_ = 0;  // by the worker of begin()
  std::vector<std::string> expected_;
  std::unique_ptr<WorkerProcess> prepared_;
  std::vector<std::string> prepared_with_;
  bool loads_ = false;  // the prepared one has not said yet that it is done
};

}  // namespace allocbench::front
