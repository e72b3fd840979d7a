// `allocbench compare --with-reference`: measures on this machine what kept runs have.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/common/errors.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// The config as the run kept it: that of its name may have changed since.
std::string write_config(const Results& run, const fs::path& folder) {
  const fs::path path = folder / "config.json";
  std::error_code error;
  fs::create_directories(folder, error);
  std::ofstream file(path, std::ios::binary);
  file << run.history.config->dump(2) << "\n";
  file.close();
  if (!file) throw EnvironmentError(fmt::format("{} cannot be written. Choose another --out.", path.string()));
  return path.string();
}

RunOptions options_of(const CompareOptions& options, const Results& run, std::set<std::string> cells) {
  const fs::path folder = fs::path(options.out) / run.figure;
  RunOptions made;
  made.config = write_config(run, folder);
  made.backend = run.cells.front().cell.backend;
  made.device = options.device;
  made.out = folder.string();
  made.resume = true;  // after an interruption the same command continues
  made.cells = std::move(cells);
  made.seed = run.history.seed;
  made.table = false;
  made.workers = options.workers;
  return made;
}

}  // namespace

int measure_reference(const CompareOptions& options, const std::vector<Results>& runs) {
  for (const Results& run : runs) {
    std::set<std::string> cells;
    for (const CellResult& result : run.cells) {
      if (result.status() == Status::ok) cells.insert(result.cell.id);
    }
    if (cells.empty()) continue;
    const int code = run_command(options_of(options, run, std::move(cells)));
    if (code != exit_all_ok && code != exit_some_not_ok) return code;
  }
  return exit_all_ok;
}

}  // namespace allocbench::front
