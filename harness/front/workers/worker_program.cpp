#include "harness/front/workers/worker_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>

#include "harness/front/common/build_hints.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/interrupt.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/workers/worker_process.hpp"
#include "protocol/command_json.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;
namespace process = boost::process;

struct Answer {
  int exit_code = 0;
  std::string output;
  std::string end;     // a text such as "ended with exit code 1"
  std::string errors;  // worker's output on stderr
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using TemporaryFile = std::unique_ptr<std::FILE, CloseFile>;

std::string text_in(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int letter = std::getc(file); letter != EOF; letter = std::getc(file)) text += static_cast<char>(letter);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

Answer run(const WorkerProgram& program, const std::vector<std::string>& arguments) {
  try {
    process::ipstream stream;
    const TemporaryFile errors(std::tmpfile());  // a file, because a pipe that nobody reads could fill
    if (!errors) throw EnvironmentError(fmt::format("Cannot create a temporary file: {}.", std::strerror(errno)));
    process::child child(program.path, process::args(arguments),
                         process::std_in<process::null, process::std_out> stream, process::std_err > errors.get());
    Answer answer;
    answer.output.assign(std::istreambuf_iterator<char>(stream), {});
    child.wait();
    answer.exit_code = child.exit_code();
    answer.end = describe_death(child.native_exit_code());
    answer.errors = text_in(errors.get());
    return answer;
  } catch (const process::process_error& error) {
    throw EnvironmentError(fmt::format("{} cannot be started: {}.", program.path, error.code().message()));
  }
}

}  // namespace

WorkerFolder::WorkerFolder(const std::string& from_command_line) {
  const char* from_environment = std::getenv("ALLOCBENCH_WORKERS");
  if (!from_command_line.empty()) {
    folder_ = from_command_line;
  } else if (from_environment != nullptr && *from_environment != '\0') {
    folder_ = from_environment;
  } else {
    folder_ = fs::read_symlink("/proc/self/exe").parent_path().string();
  }
}

std::optional<WorkerProgram> WorkerFolder::find(const std::string& backend) const {
  const std::string path = (fs::path(folder_) / ("allocbench-worker-" + backend)).string();
  if (access(path.c_str(), X_OK) != 0) return std::nullopt;
  return WorkerProgram{backend, path};
}

WorkerProgram WorkerFolder::require(const std::string& backend) const {
  if (auto program = find(backend)) return *program;
  throw EnvironmentError(fmt::format(
      "There is no program allocbench-worker-{} in {}. Build it in the source tree with {}{}, or name its folder with "
      "--workers.",
      backend, folder_, how_to_build_programs, backend == "cuda" ? " (this needs nvcc of CUDA 12.4 or newer)" : ""));
}

std::vector<WorkerProgram> WorkerFolder::all() const {
  std::vector<WorkerProgram> programs;
  for (const char* backend : {"cpu", "cuda"}) {
    if (auto program = find(backend)) programs.push_back(*program);
  }
  if (programs.empty()) require("cpu");
  return programs;
}

std::string describe_text(const WorkerProgram& program) {
  const Answer answer = run(program, {"--describe"});
  if (answer.exit_code != 0 && interrupted()) throw Interrupted();  // Ctrl-C on a terminal also reaches the worker
  if (answer.exit_code != 0) {
    throw EnvironmentError(fmt::format("{} --describe {}.{}{}", program.path, answer.end,
                                       answer.errors.empty() ? "" : " Its output:\n", answer.errors));
  }
  return answer.output;
}

Catalogue describe_worker(const WorkerProgram& program) {
  return parse_catalogue(describe_text(program), program.path);
}

void warn_about(const std::vector<protocol::BrokenPlugin>& plugins) {
  for (const protocol::BrokenPlugin& plugin : plugins) {
    tell("allocbench: warning: the plug-in {} is unusable: {}\n", plugin.plugin, plugin.reason);
  }
}

HeapWish heap_wish(const Batch& batch) {
  if (batch.pool_is_device_heap) return {.bytes = batch.pool_bytes};
  if (!batch.has_heap_share) return {.bytes = 0};
  const protocol::LoadAllocator load{batch.allocator, batch.allocator_parameters, batch.pool_bytes};
  return {.question = protocol::to_json(load).dump()};
}

std::optional<std::uint64_t> ask_device_heap(const WorkerProgram& program, const Batch& batch) {
  const HeapWish wish = heap_wish(batch);
  if (wish.bytes) return wish.bytes;
  std::vector<std::string> arguments = heap_options(wish);
  for (const std::string& option : plugin_options(batch)) arguments.push_back(option);
  const Answer answer = run(program, arguments);
  std::uint64_t bytes = 0;
  const char* end = answer.output.data() + answer.output.size();
  const auto [stop, error] = std::from_chars(answer.output.data(), end, bytes);
  if (answer.exit_code != 0 || error != std::errc{} || (stop != end && *stop != '\n')) return std::nullopt;
  return bytes;
}

std::vector<std::string> heap_options(const HeapWish& wish) {
  if (wish.bytes) return {"--device-heap-bytes", std::to_string(*wish.bytes)};
  return {"--device-heap-for", wish.question};
}

std::vector<std::string> plugin_options(const Batch& batch) {
  if (batch.plugin.empty()) return {};
  return {"--plugin", batch.plugin};
}

}  // namespace allocbench::front
