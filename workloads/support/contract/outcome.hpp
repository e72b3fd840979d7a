// This file has the exception that ends the work on a cell early, and functions that throw it.
#pragma once

#include <stdexcept>
#include <string>

#include "protocol/status.hpp"

namespace allocbench {

// The exception that passes status and reason to the harness. After a fatal failure the device state is lost, and the
// worker must end.
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

// Ends the work on a cell as unsupported, with the reason. Does nothing if the reason is empty.
inline void fail_if_unsupported(const std::string& why) {
  if (!why.empty()) throw CellFailure(Status::unsupported, why);
}
// Ends the work on a cell if there is a problem. An example of the reason is "wrong graph: an edge is in no list".
inline void fail_if_wrong(const std::string& result, const std::string& problem) {
  if (!problem.empty()) throw CellFailure(Status::incorrect, "wrong " + result + ": " + problem);
}

}  // namespace allocbench
