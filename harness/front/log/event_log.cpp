#include "harness/front/log/event_log.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "harness/front/common/limits.hpp"
#include "harness/front/common/text_file.hpp"

namespace allocbench::front {
namespace {

constexpr auto between_syncs = std::chrono::seconds(5);

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                     milliseconds);
}

}  // namespace

WrongFormat::WrongFormat(std::uint64_t found)
    : Malformed(fmt::format("its format is {}, but this allocbench reads format {}", found, log_format)) {}

EventLog::EventLog(const std::string& path, std::optional<std::uint64_t> bytes) : path_(path) {
  descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw EnvironmentError(fmt::format("{} cannot be written: {}.", path, std::strerror(errno)));
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(descriptor_);
    throw EnvironmentError(
        fmt::format("Another allocbench is writing to {}. Wait until it ends, or choose another --out.", path));
  }
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor_);
    throw EnvironmentError(fmt::format("{} must be a regular file.", path));
  }
  if (bytes && static_cast<std::uint64_t>(status.st_size) != *bytes) {
    close(descriptor_);
    throw EnvironmentError(fmt::format(
        "Another allocbench process wrote to {} after this one read it. Run the same command again.", path));
  }
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

EventLog::~EventLog() {
  if (descriptor_ < 0) return;
  fdatasync(descriptor_);
  close(descriptor_);
}

void EventLog::append(const nlohmann::ordered_json& event) {
  require_file();
  nlohmann::ordered_json stamped = {{"event", event.at("event")}, {"time", utc_now()}};
  for (const auto& [key, value] : event.items()) stamped[key] = value;
  // Allocators may print anything. Bytes that are not UTF-8 become the replacement character.
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

void EventLog::require_file() const {
  struct stat status = {};
  const bool same = stat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
  if (!same)
    throw LogLost(
        fmt::format("{} was deleted or replaced during the run. The run has stopped. Start the run again.", path_));
}

void EventLog::sync() {
  const auto now = std::chrono::steady_clock::now();
  if (now - synced_ < between_syncs) return;
  synced_ = now;
  fdatasync(descriptor_);
}

LogLines read_log_lines(const std::string& path) {
  const std::string text = read_text_file(path, "The event log", limits::log_bytes);
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
