#include "harness/front/cli/known_results.hpp"

#include <fmt/format.h>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <cstdio>
#include <filesystem>
#include <set>

#include "harness/front/common/errors.hpp"
#include "harness/front/compare/side.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// As seen from the folder of the project, like the default of --configs.
constexpr const char* references_folder = "results/reference";

void add_troubles(KnownTroubles& troubles, const std::string& folder) {
  std::set<std::string> left_out;
  std::set<std::string> went_well;
  for (const Results& run : read_runs(folder)) {
    for (const CellResult& result : run.cells) {
      const CellEnd& end = *result.cell.end;
      if (foretells_trouble(end)) {
        troubles[result.cell.id] = {Doubt::cell, fmt::format("its status was {} in {}", word(end.status), folder)};
      } else if (end.left_out) {
        left_out.insert(result.cell.id);
      } else {
        went_well.insert(result.cell.id);
      }
    }
  }
  // Otherwise every study that runs out of time would find out again how many of them fail.
  for (const std::string& id : left_out) {
    if (went_well.count(id) == 0)
      troubles.emplace(id, DoubtAbout{Doubt::left_out, fmt::format("put off in {}", folder)});
  }
}

}  // namespace

std::string reference_of(const std::string& references, const std::string& backend, const std::string& device) {
  std::vector<std::string> words;
  const std::string name = boost::to_lower_copy(backend == "cuda" ? device : backend);
  boost::split(words, name, !boost::is_alnum(), boost::token_compress_on);
  for (const std::string& each : words) {
    const fs::path folder = fs::path(references) / each;
    if (!each.empty() && fs::is_directory(folder)) return folder.string();
  }
  return "";
}

KnownTroubles known_troubles(const RunOptions& options, const Target& target, const std::vector<std::string>& figures) {
  KnownTroubles troubles;
  if (!options.use_known) return troubles;
  if (!options.known.empty()) {
    try {
      add_troubles(troubles, options.known);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("--known: {}", error.what()));
    }
    return troubles;
  }
  if (!target.device) return troubles;
  const std::string reference = reference_of(references_folder, target.program.backend, target.device->name);
  if (reference.empty()) return troubles;
  for (const std::string& figure : figures) {
    const fs::path folder = fs::path(reference) / figure;
    if (!fs::is_directory(folder)) continue;
    try {
      add_troubles(troubles, folder.string());
    } catch (const UsageError& error) {
      // Only the order of cells depends on it.
      if (!options.quiet) fmt::print(stderr, "allocbench: warning: {}\n", error.what());
    }
  }
  return troubles;
}

}  // namespace allocbench::front
