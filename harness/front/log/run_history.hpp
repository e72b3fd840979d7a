// What an event log says, folded into the state of each cell. Both resuming and reducing start from here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/front/config/value.hpp"
#include "harness/front/log/run_log.hpp"

namespace allocbench::front {

struct PhaseSample {
  std::string name;
  double seconds = 0;
  std::uint64_t operations = 0;
};

struct Sample {
  std::vector<PhaseSample> phases;
  std::vector<std::pair<std::string, double>> counters;
  bool throttled = false;
};

struct CellHistory {
  std::string id;
  std::string series;
  std::string label;
  std::string allocator;
  NamedValues allocator_parameters;
  std::string workload;
  NamedValues workload_parameters;
  std::uint64_t pool_bytes = 0;
  std::string backend;
  std::uint64_t seed = 0;
  std::string state;
  NamedValues axes;

  std::uint64_t attempts = 0;  // the highest number of a start
  std::optional<CellEnd> end;  // the last one; none = never finished
  std::uint64_t ended_attempt = 0;
  CellFacts facts;                   // of that end
  std::vector<Sample> samples;       // of that end's attempt
  std::vector<Sample> open_samples;  // of an attempt without an end
  std::string device;                // the name of the device that measured it
  std::string revision;              // of the program that measured it; a resumed log may have several
};

struct RunHistory {
  std::string figure;
  std::string backend;
  std::string statistic = "median";
  std::uint64_t seed = 0;
  std::string config_text;  // effective config
  std::string config_path;
  std::string run_text;                      // the last `run` event, as JSON text
  std::string device_text;                   // the last device, as JSON text
  std::string started;                       // time of the first event
  std::map<std::string, std::string> units;  // of metrics, by name
  std::vector<CellHistory> cells;            // in the order of their first appearance

  const CellHistory* find(std::string_view id) const;
  std::size_t finished() const;
};

// Throws UsageError, with the line's number, for a log that is none or of another format.
RunHistory read_history(const std::vector<std::string>& lines, const std::string& path);

}  // namespace allocbench::front
