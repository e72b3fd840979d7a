// Answers the commands of `allocbench check` (harness/README.md, "The checking workers").
#pragma once

#include <istream>
#include <nlohmann/json.hpp>

#include "check/search.hpp"
#include "check/subject.hpp"
#include "harness/worker/event_writer.hpp"

namespace allocbench::checker {

inline constexpr int protocol_version = 1;
inline constexpr int exit_protocol_error = 64;

class Server {
 public:
  // All arguments must outlive it.
  Server(const check::SubjectList& subjects, worker::EventWriter& events) : subjects_(subjects), events_(events) {}
  // Until `quit` or the end of the commands; returns the exit code.
  int serve(std::istream& commands);

 private:
  nlohmann::ordered_json answer(const nlohmann::json& command);

  const check::SubjectList& subjects_;
  worker::EventWriter& events_;
  bool ending_ = false;
};

// Subjects and models as `--describe` prints them.
nlohmann::ordered_json describe(const check::SubjectList& subjects);

}  // namespace allocbench::checker
