#include "harness/front/log/event_log.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "harness/front/common/errors.hpp"

namespace allocbench::front {
namespace {

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                     milliseconds);
}

}  // namespace

EventLog::EventLog(const std::string& path) : path_(path) {
  descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw EnvironmentError(fmt::format("{} cannot be written: {}.", path, std::strerror(errno)));
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(descriptor_);
    throw EnvironmentError(fmt::format("Another allocbench is writing to {}: wait for it, or choose --out.", path));
  }
}

EventLog::~EventLog() {
  if (descriptor_ >= 0) close(descriptor_);
}

void EventLog::append(const nlohmann::ordered_json& event) {
  nlohmann::ordered_json stamped = {{"event", event.at("event")}, {"time", utc_now()}};
  for (const auto& [key, value] : event.items()) stamped[key] = value;
  // Allocators print what they like; bytes that are no UTF-8 become the replacement character.
  const std::string line = stamped.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  ssize_t written = 0;
  do {
    written = write(descriptor_, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(line.size())) {
    throw EnvironmentError(
        fmt::format("{} cannot be written: {}.", path_, written < 0 ? std::strerror(errno) : "the disk is full"));
  }
}

void EventLog::sync() { fdatasync(descriptor_); }

LogLines read_log_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("There is no event log {}: name the folder of a run.", path));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  LogLines result;
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    result.lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  result.complete_bytes = start;
  result.torn = start != text.size();
  return result;
}

void cut_torn_line(const std::string& path, const LogLines& lines) {
  if (!lines.torn) return;
  if (truncate(path.c_str(), static_cast<off_t>(lines.complete_bytes)) != 0) {
    throw EnvironmentError(fmt::format("{} cannot be written: {}.", path, std::strerror(errno)));
  }
}

}  // namespace allocbench::front
