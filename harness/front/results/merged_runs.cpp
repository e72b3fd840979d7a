#include "harness/front/results/merged_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/log/event_log.hpp"
#include "harness/front/log/run_history.hpp"
#include "harness/front/results/run_files.hpp"
#include "protocol/json_members.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

struct MergedPart {
  std::string file;
  std::vector<std::string> lines;
  RunHistory history;
};

struct ReadParts {
  std::vector<MergedPart> parts;
  std::vector<std::string> complaints;
};

MergedPart read_part(const fs::path& file) {
  if (!is_log(file)) {
    throw UsageError(
        fmt::format("{} has no event log in its folder. Merge the folders that the runs wrote.", file.string()));
  }
  MergedPart part{file.string(), read_log_lines(file.string()).lines, {}};
  part.history = read_history(part.lines, part.file);
  if (part.history.without_samples) {
    throw UsageError(fmt::format("{} was kept without samples. Merge the folder that the run wrote.", part.file));
  }
  const fs::path figure = fs::path(part.history.figure).lexically_normal();
  if (figure.empty() || figure.is_absolute() || *figure.begin() == "..") {
    throw UsageError(
        fmt::format("{} comes from a config named \"{}\", which cannot be a folder below --out. Rename the config and "
                    "measure again.",
                    part.file, part.history.figure));
  }
  return part;
}

ReadParts read_parts(const std::vector<std::string>& folders) {
  ReadParts read;
  for (const std::string& folder : folders) {
    std::vector<fs::path> files;
    try {
      files = run_files(folder);
    } catch (const UsageError& error) {
      read.complaints.emplace_back(error.what());
    }
    for (const fs::path& file : files) {
      try {
        read.parts.push_back(read_part(file));
      } catch (const UsageError& error) {
        read.complaints.emplace_back(error.what());
      }
    }
  }
  return read;
}

void require_one_partition(const std::vector<MergedPart>& parts) {
  const MergedPart* first = nullptr;
  for (const MergedPart& part : parts) {
    if (!part.history.shard) continue;
    if (first == nullptr) first = &part;
    const Shard& one = *first->history.shard;
    const Shard& other = *part.history.shard;
    if (one.count == other.count && one.partition == other.partition) continue;
    throw UsageError(
        fmt::format("{} belongs to shard {} of partition {}, but {} to shard {} of partition {}. Run all shards of a "
                    "study from one checkout, with the same --shard count and --only, then merge them.",
                    first->file, one.text(), one.partition, part.file, other.text(), other.partition));
  }
}

// Numbers of two machines are comparable only if both have the same model of device and the same sources.
void require_one_origin(const std::vector<MergedPart>& parts) {
  struct First {
    std::string text;
    std::string file;
  };
  std::optional<First> revision;
  std::optional<First> device;
  std::optional<First> executor;
  const auto check = [](std::optional<First>& first, const std::string& what, const std::string& text,
                        const std::string& file) {
    if (!first) first = First{text, file};
    if (first->text == text) return;
    throw UsageError(
        fmt::format("{} was measured {} {}, but {} {} {}. Merge only runs of the same revision, device model and "
                    "options of the CPU executor, or pass --allow-mixed (every figure then says so).",
                    first->file, what, first->text, file, what, text));
  };
  for (const MergedPart& part : parts) {
    for (const CellHistory& cell : part.history.cells) {
      const Origin* const origin = cell.measured_origin();
      if (origin == nullptr) continue;
      check(revision, "at revision", origin->sources.measured_revision, part.file);
      check(device, "on", origin->device, part.file);
      check(executor, "by", executor_text(*origin), part.file);
    }
  }
}

std::set<std::string> ended_cells(const RunHistory& history) {
  std::set<std::string> ids;
  for (const CellHistory& cell : history.cells) {
    if (cell.end && !cell.end->left_out) ids.insert(cell.id);
  }
  return ids;
}

// Returns how much a log has of a cell: whether the cell ended, then the number of complete rounds.
std::pair<bool, std::size_t> extent_of(const CellHistory& cell) {
  return {cell.end && !cell.end->left_out, cell.open.rounds.size()};
}

// Returns the lines of `part` without the events of cells of which `whole` has as much or more. Otherwise a cell that
// the part left out for lack of time would lose its numbers.
std::vector<std::string> lines_to_add(const MergedPart& whole, const MergedPart& part) {
  std::map<std::string, std::pair<bool, std::size_t>> extents;
  for (const CellHistory& cell : whole.history.cells) extents[cell.id] = extent_of(cell);
  std::set<std::string> known;
  for (const CellHistory& cell : part.history.cells) {
    const auto found = extents.find(cell.id);
    if (found != extents.end() && found->second >= extent_of(cell)) known.insert(cell.id);
  }
  std::vector<std::string> lines;
  for (const std::string& line : part.lines) {
    const auto event = protocol::parse_object(line, "an event");
    if (!known.contains(protocol::text_member_or(event, "cell", ""))) lines.push_back(line);
  }
  return lines;
}

bool begins_with(const MergedPart& longer, const MergedPart& shorter) {
  return longer.lines.size() >= shorter.lines.size() &&
         std::equal(shorter.lines.begin(), shorter.lines.end(), longer.lines.begin());
}

void require_one_plan(const MergedPart& one, const MergedPart& other) {
  if (fs::equivalent(one.file, other.file)) {
    throw UsageError(fmt::format("{} is in two of the given folders. Name each folder once.", one.file));
  }
  if (one.history.backend != other.history.backend) {
    throw UsageError(
        fmt::format("{} is a run on the {} back end, but {} is a run on {}. Merge each back end into its own folder.",
                    one.file, one.history.backend, other.file, other.history.backend));
  }
  if (one.history.planned != other.history.planned) {
    throw UsageError(fmt::format(
        "{} and {} are runs of {} with different cells (other config, seed or --full). Name only one of them.",
        one.file, other.file, one.history.figure));
  }
  if (one.history.shard && one.history.shard == other.history.shard) {
    throw UsageError(
        fmt::format("{} and {} both belong to shard {}, which was run twice. Name only one of the folders.", one.file,
                    other.file, one.history.shard->text()));
  }
}

// Keeps the longest log of each run. If a run was continued elsewhere, the longer log begins with the shorter one.
// Throws UsageError if two plans differ.
std::vector<MergedPart> longest_logs(std::vector<MergedPart> parts) {
  std::vector<MergedPart> longest;
  for (MergedPart& part : parts) {
    bool is_in_another = false;
    for (MergedPart& other : longest) {
      require_one_plan(other, part);
      if (begins_with(part, other)) std::swap(part, other);
      is_in_another = is_in_another || begins_with(other, part);
    }
    if (!is_in_another) longest.push_back(std::move(part));
  }
  return longest;
}

// Joins two logs of a config, of which `whole` began first. Throws UsageError if both finished the same cell.
void add_to(MergedPart& whole, const MergedPart& part) {
  const std::set<std::string> ended = ended_cells(whole.history);
  for (const std::string& id : ended_cells(part.history)) {
    if (!ended.contains(id)) continue;
    throw UsageError(fmt::format(
        "{} and {} both contain the finished cell {} of {}, which was measured twice. Name only one of the folders.",
        whole.file, part.file, id, whole.history.figure));
  }
  const std::vector<std::string> lines = lines_to_add(whole, part);
  whole.lines.insert(whole.lines.end(), lines.begin(), lines.end());
  whole.history = read_history(whole.lines, whole.file);
}

// Joins the logs of a config. The order in which the folders were named makes no difference.
MergedPart join(std::vector<MergedPart> parts) {
  std::vector<MergedPart> runs = longest_logs(std::move(parts));
  std::sort(runs.begin(), runs.end(), [](const MergedPart& one, const MergedPart& other) {
    return std::tie(one.history.started, one.lines) < std::tie(other.history.started, other.lines);
  });
  MergedPart whole = std::move(runs.front());
  for (std::size_t run = 1; run < runs.size(); ++run) add_to(whole, runs[run]);
  return whole;
}

// Names the shards whose runs the folders lack. Logs of earlier versions do not contain the number of configs.
void name_incomplete_shards(ReadParts& read) {
  std::map<std::uint64_t, std::set<std::string>> figures;
  std::map<std::uint64_t, Shard> shards;
  for (const MergedPart& part : read.parts) {
    if (!part.history.shard) continue;
    const Shard& shard = *part.history.shard;
    figures[shard.index].insert(part.history.figure);
    shards[shard.index] = shard;
  }
  for (const auto& [index, shard] : shards) {
    const std::size_t found = figures[index].size();
    if (found >= shard.configs) continue;
    read.complaints.push_back(
        fmt::format("Shard {} has {}, but these folders contain readable runs of only {} ({}). Copy the whole folder "
                    "of the shard, or run the shard again, then merge again.",
                    shard.text(), counted(shard.configs, "config"), found, fmt::join(figures[index], ", ")));
  }
}

void name_missing_shards(ReadParts& read) {
  std::set<std::uint64_t> found;
  std::uint64_t count = 0;
  for (const MergedPart& part : read.parts) {
    if (!part.history.shard) continue;
    count = part.history.shard->count;
    found.insert(part.history.shard->index);
  }
  std::vector<std::uint64_t> missing;
  for (std::uint64_t index = 1; index <= count; ++index) {
    if (!found.contains(index)) missing.push_back(index);
  }
  if (missing.empty()) return;
  const bool one = missing.size() == 1;
  read.complaints.push_back(
      fmt::format("These folders contain no {}run of shard{} {} of {}. Run {} with --shard {}/{}{}, then merge again.",
                  read.complaints.empty() ? "" : "readable ", one ? "" : "s", fmt::join(missing, ", "), count,
                  one ? "this shard" : "the first", missing.front(), count, one ? "" : " and the others likewise"));
}

}  // namespace

MergedRuns merge_runs(const std::vector<std::string>& folders, bool allow_mixed) {
  ReadParts read = read_parts(folders);
  if (read.parts.empty()) {
    throw UsageError(read.complaints.front());
  }
  require_one_partition(read.parts);
  if (!allow_mixed) require_one_origin(read.parts);
  name_missing_shards(read);
  name_incomplete_shards(read);
  std::map<std::string, std::vector<MergedPart>> figures;
  for (MergedPart& part : read.parts) figures[part.history.figure].push_back(std::move(part));
  MergedRuns merged;
  merged.complaints = std::move(read.complaints);
  for (auto& [figure, parts] : figures) merged.runs.push_back({figure, join(std::move(parts)).lines});
  return merged;
}

}  // namespace allocbench::front
