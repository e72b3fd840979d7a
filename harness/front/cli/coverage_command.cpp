// `allocbench check --coverage` lists the lines of device code that no built-in model executes. tools/reach.py finds
// these lines.
#include <fmt/format.h>

#include <filesystem>

#include "harness/front/check/check_plan.hpp"
#include "harness/front/cli/command_line.hpp"
#include "harness/front/cli/plots_program.hpp"
#include "harness/front/common/build_hints.hpp"
#include "harness/front/common/errors.hpp"

namespace allocbench::front {

int coverage_command(const CheckOptions& options) {
  CheckOptions without_races = options;
  without_races.races = false;
  const CheckPlan plan = make_check_plan(without_races);
  const auto workers = std::filesystem::absolute(plan.searcher.path).parent_path();
  const std::filesystem::path build = workers.parent_path();
  if (!std::filesystem::exists(build / "build.ninja") || workers.filename() != "bin") {
    throw EnvironmentError(
        fmt::format("--coverage compiles plug-ins with the commands of their build, but {} is not the folder bin of a "
                    "build. Run {} in the source tree, then build/bin/allocbench.",
                    workers.string(), how_to_build_programs));
  }
  std::vector<std::string> words = {build.string(), "--seeds", std::to_string(options.seeds), "--jobs",
                                    std::to_string(options.workers_at_once())};
  for (const std::string& allocator : options.allocators) words.insert(words.end(), {"--allocator", allocator});
  become_tool("reach.py", words);
}

}  // namespace allocbench::front
