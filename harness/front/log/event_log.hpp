// EventLog appends lines to events.jsonl and reads them. run_log and run_history define the meaning of events.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/common/errors.hpp"
#include "protocol/json_members.hpp"

namespace allocbench::front {

// LogLost means that the log was deleted or replaced while it was open. All later measurements would be lost.
struct LogLost : EnvironmentError {
  using EnvironmentError::EnvironmentError;
};

class EventLog {
 public:
  // Opens the file for appending and locks it, because two runs in one folder would mix their events. Throws
  // EnvironmentError if the path is not a regular file, cannot be written or is locked by another run. With `bytes`, it
  // also throws it if the file has another size, because another run has written to it since then.
  explicit EventLog(const std::string& path, std::optional<std::uint64_t> bytes = std::nullopt);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // Adds "time" after "event" and writes the line with one call of write(). So after kill -9, at most the last line is
  // torn (incomplete).
  void append(const nlohmann::ordered_json& event);
  // Writes the file to the disk, unless this happened less than 5 s ago, because on some disks a sync takes as long as
  // a cell. Call it after the end of a cell.
  void sync();
  // Throws LogLost if the path does not name the opened file any more.
  void require_file() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::chrono::steady_clock::time_point synced_ = {};
};

// The format of events.jsonl and results.json. Format 1, in which plain ids name the reworked forms, is refused.
inline constexpr int log_format = 2;
// WrongFormat means a log or results of format `found`, which this program cannot read.
struct WrongFormat : protocol::Malformed {
  explicit WrongFormat(std::uint64_t found);
};

struct LogLines {
  std::vector<std::string> lines;    // lines without a torn last one
  std::uint64_t complete_bytes = 0;  // bytes of these lines
  bool torn = false;
};

LogLines read_log_lines(const std::string& path);

// Removes a torn last line from the file, so that the next event starts a new line.
void cut_torn_line(const std::string& path, const LogLines& lines);

}  // namespace allocbench::front
