// How a cell ends: a word before any number, and the exception that carries a bad end to the harness.
#pragma once

#include <stdexcept>
#include <string>

namespace allocbench {

// The words that a worker itself can find out; `skipped` and `crashed` are the front end's.
enum class Status { ok, unsupported, oom, incorrect, timeout, device_fault };

constexpr const char* status_word(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::unsupported:
      return "unsupported";
    case Status::oom:
      return "oom";
    case Status::incorrect:
      return "incorrect";
    case Status::timeout:
      return "timeout";
    case Status::device_fault:
      return "device_fault";
  }
  return "incorrect";
}

// Ends the work on a cell. After a fatal one the device state is lost and the worker must end.
class CellFailure : public std::runtime_error {
 public:
  CellFailure(Status status, const std::string& reason, bool fatal = false)
      : std::runtime_error(reason), status_(status), fatal_(fatal) {}
  Status status() const { return status_; }
  bool fatal() const { return fatal_; }

 private:
  Status status_;
  bool fatal_;
};

// Ends the work on a cell with a reason; an empty one means that nothing is wrong.
inline void fail_if_unsupported(const std::string& why) {
  if (!why.empty()) throw CellFailure(Status::unsupported, why);
}
// The reason reads "wrong graph: an edge is in no list".
inline void fail_if_wrong(const std::string& result, const std::string& problem) {
  if (!problem.empty()) throw CellFailure(Status::incorrect, "wrong " + result + ": " + problem);
}

}  // namespace allocbench
