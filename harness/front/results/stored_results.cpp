#include "harness/front/results/stored_results.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/limits.hpp"
#include "harness/front/common/text_file.hpp"
#include "harness/front/log/event_log.hpp"
#include "harness/front/plan/cell.hpp"
#include "harness/front/results/run_files.hpp"
#include "protocol/json_members.hpp"

namespace allocbench::front {
namespace {

using protocol::Json;
using protocol::Malformed;

// Reads the values of the rounds of a phase without samples. Only a phase with three to five rounds has them.
Rounds few_rounds_of(const Json& phase) {
  Rounds rounds;
  if (protocol::optional_member(phase, "few_rounds") == nullptr) return rounds;
  for (const Json& value : protocol::list_member(protocol::object_member(phase, "few_rounds"), "values")) {
    if (!value.is_number() || value.get<double>() < 0) throw Malformed("\"values\" must be a list of times");
    rounds.push_back({value.get<double>()});
  }
  return rounds;
}

Rounds rounds_of(const Json& phase) {
  std::vector<double> samples;
  if (protocol::optional_member(phase, "samples") == nullptr) return few_rounds_of(phase);  // the samples were not kept
  for (const Json& sample : protocol::list_member(phase, "samples")) {
    if (!sample.is_number() || sample.get<double>() < 0) throw Malformed("\"samples\" must be a list of times");
    samples.push_back(sample.get<double>());
  }
  Rounds rounds;
  auto next = samples.begin();
  for (const Json& count : protocol::list_member(phase, "rounds")) {
    if (!count.is_number_unsigned() || count.get<std::uint64_t>() == 0 ||
        count.get<std::uint64_t>() > static_cast<std::uint64_t>(samples.end() - next)) {
      throw Malformed("\"rounds\" must list positive counts whose sum is the number of \"samples\"");
    }
    const auto end = next + static_cast<std::ptrdiff_t>(count.get<std::uint64_t>());
    rounds.emplace_back(next, end);
    next = end;
  }
  if (next != samples.end())
    throw Malformed("\"rounds\" must list positive counts whose sum is the number of \"samples\"");
  return rounds;
}

std::size_t round_count(const Json& phase, const Rounds& rounds) {
  return protocol::optional_member(phase, "rounds") == nullptr ? rounds.size()
                                                               : protocol::list_member(phase, "rounds").size();
}

Estimate time_of(const Json& phase, Statistic statistic) {
  Estimate time{.centre = protocol::seconds_member(phase, name_of(statistic))};
  const auto low = protocol::optional_seconds(phase, "low");
  const auto high = protocol::optional_seconds(phase, "high");
  if (low && high) {
    time.interval = Interval{*low, *high};
  } else {
    time.why_no_interval = protocol::text_member_or(phase, "no_interval", "");
  }
  return time;
}

PhaseResult phase_from(const Json& json, Statistic statistic) {
  PhaseResult phase;
  phase.name = protocol::text_member(json, "name");
  phase.rounds = rounds_of(json);
  phase.round_count = round_count(json, phase.rounds);
  const bool has_time = protocol::optional_member(json, name_of(statistic)) != nullptr;
  if (!has_time && phase.rounds.empty()) throw Malformed("a phase must have a time or samples");
  phase.time = has_time ? time_of(json, statistic) : estimate(phase.rounds, statistic, 0);
  phase.operations = protocol::optional_member(json, "operations") ? protocol::number_member(json, "operations") : 0;
  phase.not_held = protocol::text_member_or(json, "not_held", "");
  if (protocol::optional_member(json, "throttled") == nullptr) return phase;
  for (const Json& index : protocol::list_member(json, "throttled")) {
    if (!index.is_number_unsigned()) throw Malformed("\"throttled\" must be a list of indices");
    phase.throttled.push_back(index.get<std::size_t>());
  }
  return phase;
}

CellResult cell_from(const Json& json, Statistic statistic) {
  CellResult result;
  CellHistory& cell = result.cell;
  static_cast<CellDescription&>(cell) = cell_description_from(json);
  cell.origin.executor = protocol::text_member_or(json, "executor", "");
  cell.origin.device = protocol::text_member_or(json, "device", "");
  cell.origin.device_uuid = protocol::text_member_or(json, "device_uuid", "");
  cell.origin.driver_version = protocol::text_member_or(json, "driver_version", "");
  cell.origin.sources.revision = protocol::text_member_or(json, "revision", "");
  cell.origin.sources.measured_revision = protocol::text_member_or(json, "measured_revision", "");
  cell.origin.sources.dirty = protocol::optional_truth(json, "dirty");
  cell.end = end_from_json(json);
  result.provisional = protocol::optional_truth(json, "provisional").value_or(false);
  if (result.status() != Status::ok) return result;
  for (const Json& phase : protocol::list_member(json, "phases")) {
    result.phases.push_back(phase_from(phase, statistic));
  }
  return result;
}

Results results_from(const Json& document) {
  const Json& ours = protocol::object_member(document, "allocbench");
  const std::uint64_t format = protocol::count_member(ours, "format");
  if (format != log_format) throw WrongFormat(format);
  const Json& run = protocol::object_member(ours, "run");
  const Json& config = protocol::object_member(run, "config");
  Results results;
  results.is_stored = true;
  results.figure = protocol::text_member(config, "name");
  results.statistic = statistic_named(protocol::text_member_or(config, "statistic", "median"));
  results.unfinished = protocol::count_member_or(ours, "unfinished", 0);
  results.history.config = std::make_shared<const Json>(config);
  results.history.backend = protocol::text_member_or(run, "backend", "");
  results.history.seed = protocol::count_member_or(run, "seed", 1);
  results.not_measured = results.unfinished;
  for (const Json& cell : protocol::list_member(ours, "cells")) {
    results.cells.push_back(cell_from(cell, results.statistic));
    if (!results.cells.back().has_end() && results.not_measured > 0) --results.not_measured;
  }
  return results;
}

}  // namespace

Results read_stored_results(const std::string& path) {
  const std::string text = read_text_file(path, "The results file", limits::log_bytes);
  try {
    return results_from(protocol::parse_object(text, "the file"));
  } catch (const Malformed& error) {
    throw UsageError(fmt::format("{} is not a results file of allocbench: {}. Name a results.json or an events.jsonl.",
                                 path, error.what()));
  }
}

Results read_run(const std::string& path) {
  if (!is_log(path)) return read_stored_results(path);
  RunHistory history = read_history(read_log_lines(path).lines, path);
  if (!history.without_samples) return reduce(std::move(history));
  if (const auto beside = results_beside(path)) {
    Results results = read_stored_results(beside->string());
    results.history.plan = std::move(history.plan);
    return results;
  }
  throw UsageError(
      fmt::format("{} was kept without samples and only has the reasons of failures. Put the results.json.xz of this "
                  "run, which has the numbers, into the same folder.",
                  path));
}

}  // namespace allocbench::front
