#include "tests/contract/suite.hpp"

#include "tests/contract/test_device.hpp"

#if !SIMT_CUDA
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#endif

namespace allocbench::contract {
namespace {

Report run_here(const Case& tested, const AllocatorType& type) {
  Report report;
  try {
    tested.run(type, report);
  } catch (const simt::Fault& fault) {
    report.problem(std::string(simt::fault_kind_name(fault.kind())) + ": " + fault.what());
  } catch (const std::exception& error) {
    report.problem(error.what());
  }
  return report;
}

}  // namespace

#if SIMT_CUDA

Report run_case(const Case& tested, const AllocatorType& type) {
  Report report = run_here(tested, type);
  TestDevice::replace_broken_context();
  return report;
}

#else

namespace {

// Writes texts that end with a null byte: the word "problem" and a problem, the word "skipped" and the reason, or a
// name and its count.
void write_report(std::FILE* file, const Report& report) {
  for (const std::string& problem : report.problems()) std::fprintf(file, "problem%c%s%c", 0, problem.c_str(), 0);
  if (!report.skipped().empty()) std::fprintf(file, "skipped%c%s%c", 0, report.skipped().c_str(), 0);
  for (const auto& [name, count] : report.counts()) {
    std::fprintf(file, "%s%c%s%c", name.c_str(), 0, std::to_string(count).c_str(), 0);
  }
}

Report read_report(std::FILE* file) {
  std::vector<std::string> texts(1);
  for (int byte = std::fgetc(file); byte != EOF; byte = std::fgetc(file)) {
    if (byte == 0) {
      texts.emplace_back();
    } else {
      texts.back() += static_cast<char>(byte);
    }
  }
  Report report;
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) {
    if (texts[i] == "problem") {
      report.problem(texts[i + 1]);
    } else if (texts[i] == "skipped") {
      report.skip(texts[i + 1]);
    } else {
      report.count(texts[i], std::stoull(texts[i + 1]));
    }
  }
  return report;
}

// Lets a wild access end this process. ThreadSanitizer's handler would wait forever for a lock that its own atomic
// operation holds during the access. AddressSanitizer's handler only reports the access and ends the process.
void let_wild_accesses_end_the_process() {
#if defined(__SANITIZE_THREAD__)
  for (const int signal : {SIGSEGV, SIGBUS}) std::signal(signal, SIG_DFL);
#endif
}

}  // namespace

Report run_case(const Case& tested, const AllocatorType& type) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  if (!file) throw std::runtime_error("cannot make a temporary file");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    let_wild_accesses_end_the_process();
    write_report(file.get(), run_here(tested, type));
    std::fflush(file.get());
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::rewind(file.get());
  Report report = read_report(file.get());
  // A sanitizer that has found a mistake ends its process with an exit code other than 0.
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    report.problem("the process ended with exit code " + std::to_string(WEXITSTATUS(status)));
  }
  if (WIFSIGNALED(status)) report.problem("the process ended by signal " + std::to_string(WTERMSIG(status)));
  return report;
}

#endif

}  // namespace allocbench::contract
