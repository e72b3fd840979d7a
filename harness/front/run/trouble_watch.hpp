// What went wrong so far, and which cells are therefore measured after all others, with a short deadline, or not at
// all.
//
// A cell that hangs, crashes or breaks the device costs a worker: its deadline, the seconds until the driver has
// removed the process, and a new start. Good cells come first, so that a study that runs out of time has lost hopeless
// ones only.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/front/plan/plan.hpp"
#include "harness/protocol/status.hpp"

namespace allocbench::front {

// How much speaks against a cell that was not verified yet. The more, the later it is measured.
enum class Doubt {
  none,
  allocator,  // it lost workers, in any config
  config,     // it failed in this config at a value up to the cell's
  cell        // the cell failed in earlier results, or its series timed out at a smaller value
};

struct DoubtAbout {
  Doubt doubt = Doubt::none;
  std::string reason = {};  // in words; empty = none
};

// Cells by id that cost a worker, or were skipped, in earlier results; with words that say so.
using KnownTroubles = std::map<std::string, std::string>;

// Whether an end like this costs a worker.
bool costs_worker(Status status);
// Whether a cell that ended like this earlier is better measured last.
bool foretells_trouble(Status status);

class TroubleWatch {
 public:
  explicit TroubleWatch(KnownTroubles known = {}) : known_(std::move(known)) {}

  // After so many an allocator's cells wait in all configs.
  static constexpr std::size_t workers_to_lose = 2;

  void note_known(const std::string& cell_id, std::string words) { known_[cell_id] = std::move(words); }
  // The end of a cell of the config `figure`.
  void note_end(const std::string& figure, const Cell& cell, Status status);
  // Once for each worker: a set-up that fails ends many cells.
  void note_lost_worker(const std::string& label) { ++lost_workers_[label]; }

  DoubtAbout about(const std::string& figure, const Cell& cell) const;
  // Whether the cell's series timed out at a smaller value; then the cell gets a short deadline.
  bool series_timed_out(const std::string& figure, const Cell& cell) const;
  // The reason, when the cell's series timed out at two smaller values.
  std::optional<std::string> reason_to_skip(const std::string& figure, const Cell& cell) const;

 private:
  using Key = std::pair<std::string, std::string>;  // config and series, or config and label

  struct Failure {
    std::string words;
    std::optional<double> growth;  // nullopt: the axis has no numbers
  };

  std::vector<double> smaller_timeouts(const std::string& figure, const Cell& cell) const;
  const Failure* failure_up_to(const std::string& figure, const Cell& cell) const;

  KnownTroubles known_;
  std::map<Key, std::vector<double>> timeouts_;   // by series: values of the primary axis
  std::map<Key, std::vector<Failure>> failures_;  // by label
  std::map<std::string, std::size_t> lost_workers_;
};

}  // namespace allocbench::front
