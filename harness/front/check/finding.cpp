#include "harness/front/check/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <charconv>
#include <filesystem>
#include <vector>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/limits.hpp"
#include "harness/front/common/text_file.hpp"
#include "protocol/model_json.hpp"

namespace allocbench::front {
namespace {

using protocol::Json;

constexpr const char* version_prefix = "v1";
constexpr const char* race_suffix = "race";

Json to_json(const Finding& finding) {
  return {{"format", 1},
          {"allocator", finding.allocator},
          {"model", protocol::to_json(finding.model)},
          {"strategy", finding.strategy},
          {"seed", finding.seed},
          {"races", finding.races},
          {"outcome", finding.outcome},
          {"summary", finding.summary},
          {"schedule", finding.schedule}};
}

}  // namespace

void Finding::take(const protocol::CheckedRun& run) {
  outcome = run.outcome;
  summary = run.summary;
  report = run.report;
  schedule = run.schedule;
}

std::string Finding::seed_string() const {
  return fmt::format("{}:{}:{}:{}:{}{}{}", version_prefix, allocator, model.name, strategy, seed, races ? ":" : "",
                     races ? race_suffix : "");
}

std::string Finding::file_name() const { return allocator + "-" + model.name + (races ? "-race" : ""); }

SeedString parse_seed_string(const std::string& text) {
  std::vector<std::string> parts;
  boost::split(parts, text, boost::is_any_of(":"));
  SeedString result;
  const bool races = parts.size() == 6 && parts[5] == race_suffix;
  bool valid = (parts.size() == 5 || races) && parts[0] == version_prefix;
  if (valid) {
    result = {parts[1], parts[2], parts[3], 0, races};
    const char* end = parts[4].data() + parts[4].size();
    const auto [stop, error] = std::from_chars(parts[4].data(), end, result.seed);
    valid = error == std::errc() && stop == end && !parts[4].empty();
  }
  if (!valid) {
    throw UsageError(
        fmt::format("--replay: \"{}\" is neither a file nor a seed string. `allocbench check` prints seed strings: "
                    "v1:ALLOCATOR:MODEL:STRATEGY:SEED, with :race at the end for races.",
                    text));
  }
  return result;
}

Finding read_finding(const std::string& path) {
  const std::string text = read_text_file(path, "--replay:", limits::finding_bytes);
  try {
    const Json json = protocol::parse_object(text, "a finding");
    if (protocol::count_member(json, "format") != 1) throw protocol::Malformed("\"format\" must be 1");
    Finding finding;
    finding.allocator = protocol::text_member(json, "allocator");
    finding.model = protocol::model_from_json(protocol::object_member(json, "model"));
    finding.strategy = protocol::text_member_or(json, "strategy", "");
    finding.seed = protocol::count_member_or(json, "seed", 0);
    finding.races = protocol::truth_member_or(json, "races", false);
    finding.outcome = protocol::text_member_or(json, "outcome", "");
    finding.summary = protocol::text_member_or(json, "summary", "");
    finding.schedule = protocol::text_member_or(json, "schedule", "");
    return finding;
  } catch (const protocol::Malformed& error) {
    throw UsageError(fmt::format("--replay: {} is not a file that allocbench check wrote: {}.", path, error.what()));
  }
}

void write_finding(const Finding& finding, const std::string& folder) {
  create_folder(folder);
  const std::filesystem::path base = std::filesystem::path(folder) / finding.file_name();
  write_text_file(base.string() + ".json", to_json(finding).dump(2) + "\n");
  write_text_file(base.string() + ".txt", finding.report + "\n");
}

}  // namespace allocbench::front
