// What went wrong so far, and which cells are therefore measured after all others, with a short deadline, or not at
// all.
//
// A cell that hangs, crashes or breaks the device costs its deadline or a worker: the seconds until the driver has
// removed the process, and a new start. Good cells come first, so that a study that runs out of time has lost hopeless
// ones only.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/front/log/run_log.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/protocol/status.hpp"

namespace allocbench::front {

// How likely a cell that was not verified yet is to fail, least likely first. Likely failures are measured later.
enum class Doubt {
  none,
  allocator,  // it lost workers in most configs, and in this one
  config,     // it lost workers at most cells of this config
  harder,     // it lost one at a cell of this workload, of any config, with equal or smaller requests
  cell        // the cell failed in earlier results, or its series timed out at a smaller value
};

struct DoubtAbout {
  Doubt doubt = Doubt::none;
  std::string reason = {};  // in words; empty = none
};

// By id, what earlier results say about cells that cost a worker or were skipped.
using KnownTroubles = std::map<std::string, DoubtAbout>;

// Whether an end like this costs a worker.
bool costs_worker(Status status);
// Whether a cell that ended like this earlier is better measured last. Lack of time says nothing about the cell itself.
bool foretells_trouble(const CellEnd& end);

class TroubleWatch {
 public:
  explicit TroubleWatch(KnownTroubles known = {}) : known_(std::move(known)) {}

  // After so many in a config, and more than cells that went well, the allocator's other cells of the config wait.
  static constexpr std::size_t workers_to_lose = 2;
  // After losses in so many configs, and in more than went without, one in a config is enough. So a first cell is tried
  // in each: the configs that came first may be those that ask the most.
  static constexpr std::size_t configs_to_lose_in = 3;

  void note_known(const std::string& cell_id, std::string words) { known_[cell_id] = {Doubt::cell, std::move(words)}; }
  // The end of a cell of the config `figure`.
  void note_end(const std::string& figure, const Cell& cell, Status status);
  // A cell whose verification the worker survived.
  void note_verified(const std::string& figure, const Cell& cell) {
    records_[cell.label][figure].survived.insert(cell.id);
  }
  // Once for each worker: a set-up that fails ends many cells.
  void note_lost_worker(const std::string& figure, const std::string& label) { ++records_[label][figure].lost_workers; }

  DoubtAbout about(const std::string& figure, const Cell& cell) const;
  // Whether the cell's series timed out at a smaller value; then the cell gets a short deadline.
  bool series_timed_out(const std::string& figure, const Cell& cell) const;
  // The reason, when the cell's series timed out at two smaller values.
  std::optional<std::string> reason_to_skip(const std::string& figure, const Cell& cell) const;

 private:
  // An allocator in a config.
  struct Record {
    std::size_t lost_workers = 0;
    std::set<std::string> survived;                       // ids of cells
    std::map<std::string, std::vector<double>> timeouts;  // by series: values of the primary axis

    bool lost_more_than_survived() const { return lost_workers > survived.size(); }
  };
  using ByConfig = std::map<std::string, Record>;
  struct Failure {
    std::string words;
    CellDescription cell;
  };

  DoubtAbout about_this_run(const std::string& figure, const Cell& cell) const;
  const Record* record_of(const std::string& figure, const std::string& label) const;
  // Configs in which the allocator lost workers, if they are most; else 0.
  std::size_t configs_lost(const std::string& label) const;
  std::vector<double> smaller_timeouts(const std::string& figure, const Cell& cell) const;

  KnownTroubles known_;
  std::map<std::string, ByConfig> records_;               // by label
  std::map<std::string, std::vector<Failure>> failures_;  // by label
};

}  // namespace allocbench::front
