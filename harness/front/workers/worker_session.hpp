// WorkerSession is the front end's side of the protocol in harness/README.md. It sends commands, receives final events,
// and determines the status of a cell whose worker dies.
//
// A session outlives its workers. After the death of a worker, load() starts a new process and loads the allocator
// again. The owner of the cells must call load() and open the cells again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/front/common/executor_options.hpp"
#include "harness/front/common/time_limit.hpp"
#include "harness/front/log/run_log.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/front/workers/succession.hpp"
#include "harness/front/workers/wall_time.hpp"
#include "harness/front/workers/worker_process.hpp"
#include "harness/front/workers/worker_program.hpp"
#include "protocol/command.hpp"
#include "protocol/event.hpp"

namespace allocbench::front {

// The end of a command.
struct Outcome {
  enum class Kind { done, failed, interrupted, out_of_time };
  Kind kind = Kind::done;
  std::optional<protocol::Event> event = {};  // final event, if `done`
  CellEnd failure = {};                       // end of the cell, if `failed`
  bool on_trial = false;    // whether the limit of the trial was exceeded and not the deadline, if `failed`
  double seconds = 0;       // wall time between command and answer
  double fill_seconds = 0;  // part of it in the stage `fill`, if the worker reported stages
};

// The short deadline of a first round: seconds for each stage of a repetition.
struct Trial {
  double timed = 0;
  double fill = 0;
  double other = 0;

  double of(std::string_view stage) const { return stage == "timed" ? timed : stage == "fill" ? fill : other; }
};

struct SampleLimits {
  double seconds = 0;  // time limit of the command
  std::optional<Trial> trial;
  bool stages = false;  // whether the worker reports its stages
};

struct VerifyLimits {
  double stage_seconds = 0;                // time after which the calls of a stage end themselves
  std::optional<double> contents_seconds;  // limit for the check of the blocks' contents; empty: no limit
};

struct WorkerSettings {
  WorkerProgram program;
  int device = 0;
  ExecutorOptions executor = {};  // of the CPU back end
  bool profile = false;           // whether workers are asked for their time by part
  bool one_by_one = false;        // whether a worker starts only when its predecessor is gone
  TimeLimit time{std::nullopt};
};

// Callbacks for everything except answers to commands.
struct SessionListener {
  std::function<void(const protocol::Device&)> device = [](const protocol::Device&) {};
  // Receives processes that a worker left running at its end. They have been killed.
  std::function<void(const std::vector<std::string>&)> strays = [](const std::vector<std::string>&) {};
  // Runs about ten times a second while the session waits for a worker.
  std::function<void()> idle = [] {};
};

class WorkerSession {
 public:
  WorkerSession(WorkerSettings settings, SessionListener listener);

  // Starts a worker without a device heap and waits until it is ready. Throws EnvironmentError if this fails.
  Outcome start();
  // Loads this batch's allocator into a worker: the running one if possible, otherwise a new one. Without `needs_heap`,
  // any device heap is suitable.
  Outcome load(const Batch& batch, bool needs_heap, double limit_seconds);
  // Returns the report of the loaded allocator.
  const CellFacts& facts() const { return loaded_facts_; }
  // Sets the probable batch of the worker after the one that load() may start; null means unknown. That worker starts
  // in parallel, which saves time, and measures nothing until its turn. With `one_by_one` this has no effect.
  void expect(const Batch* batch);
  // Returns whether the running worker's device heap suits the batch. It must have the right size. If only a new
  // process makes the heap fresh, the process must have been started for this batch. So such a batch never uses a heap
  // that another batch has used.
  bool has_heap_of(const Batch& batch) const;

  Outcome open(const Cell& cell, double limit_seconds);
  Outcome verify(const Cell& cell, const VerifyLimits& limits, double limit_seconds);
  // Takes up to `count` samples in one run of the worker's measuring loop. `take` receives each sample when it is
  // measured.
  Outcome sample(const Cell& cell, std::uint64_t count, const SampleLimits& limits,
                 const std::function<void(protocol::Sample)>& take);
  Outcome close(const Cell& cell, double limit_seconds);

  bool is_open(const Cell& cell) const { return open_cells_.contains(cell.id); }
  // Returns whether the running worker has opened no cell but this one.
  bool is_only(const Cell& cell) const { return is_open(cell) && cells_opened_ == 1; }
  // Returns whether the running worker has measured a cell of the same series and pool, so that a copy of the filled
  // pool may exist.
  bool has_measured_like(const Cell& cell) const { return loaded_ == load_of(cell) && measured_.contains(cell.series); }
  // Returns the last stage that the worker reported since the last command began (protocol::Stage), or an empty text.
  const std::string& stage() const { return stage_; }
  // Stops using the worker. It ends while the next one starts, or when stop() is called.
  void retire();
  // Tells the worker to quit, and waits until it is gone.
  void stop();
  const WallTime& wall_time() const { return wall_time_; }

 private:
  // An allocator in a worker.
  struct Load {
    std::string allocator;
    ParameterValues parameters;
    std::uint64_t pool_bytes = 0;

    bool operator==(const Load&) const = default;
  };

  // `described` is a batch or a cell.
  static Load load_of(const auto& described) {
    return {described.allocator, described.allocator_parameters, described.pool_bytes};
  }
  std::vector<std::string> arguments_of(const HeapWish& heap, std::vector<std::string> options) const;
  Outcome start(const HeapWish& heap, const std::vector<std::string>& options);
  Outcome start_for(const Batch& batch);
  WorkerReply begin(const std::vector<std::string>& arguments);
  void dismiss();
  void leave_as(const char* what, bool quits);
  void see_off(double reap_seconds = reap_limit_seconds);
  // Sends a command. `wanted` is the name of the expected final event, and `cell_id` its cell (empty if it has none).
  Outcome ask(const protocol::Command& command, std::string_view wanted, const std::string& cell_id,
              double limit_seconds);
  // Waits for the event `wanted` without sending a command. The caller limits the time to that of the run.
  Outcome await(std::string_view wanted, const std::string& cell_id, double limit_seconds,
                std::optional<Trial> trial = {});
  void end_stage();
  std::optional<Outcome> judge(const std::string& line, std::string_view wanted, const std::string& cell_id);
  std::optional<Outcome> judge_failure(const protocol::Failed& failed);
  [[noreturn]] void give_up(const protocol::NoEnvironment& machine);
  Outcome lose_worker(Status status, std::string reason);
  Outcome abandon_worker();
  std::string complaint_about_start(const WorkerReply& reply);
  double with_overtime(double limit_seconds) const;
  WorkerReply wait(double limit_seconds);
  Outcome note_profile();
  double count_told();
  void count_dead_worker(double deadline_seconds);
  void forget_cells();  // forgets the loaded allocator and its cells

  WorkerSettings settings_;
  SessionListener listener_;
  std::unique_ptr<WorkerProcess> process_;
  bool retired_ = false;  // whether `process_` is no longer used
  Succession succession_;
  std::string leaving_as_;  // part of the profile for the end of the last worker
  WorkerProcess::Clock::time_point quit_at_ = {};
  std::set<std::string> open_cells_;
  std::size_t cells_opened_ = 0;  // cells that the current process has opened
  std::optional<Load> loaded_;
  std::set<std::string> measured_;                // series of the cells measured since the load
  CellFacts loaded_facts_;                        // facts of the allocator, for every batch that finds it loaded
  const Batch* started_for_ = nullptr;            // batch whose device heap the process has
  HeapWish heap_;                                 // device heap of the process
  std::uint64_t device_heap_bytes_ = 0;           // size of the process's device heap, if known
  std::map<std::string, std::uint64_t> answers_;  // answers to questions about device heaps
  WorkerProcess::Clock::time_point spawned_ = {};
  double start_seconds_ = 0;               // seconds from spawn to ready
  std::optional<protocol::Profile> told_;  // last profile that the process sent
  WorkerProcess::Clock::time_point asked_at_ = {};
  std::string stage_;
  WorkerProcess::Clock::time_point stage_at_ = {};
  double fill_seconds_ = 0;  // time in the stage `fill` since the last command began
  WallTime wall_time_;
};

}  // namespace allocbench::front
