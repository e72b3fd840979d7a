// Server answers the commands of `allocbench check` (harness/README.md, "The checking workers").
#pragma once

#include <istream>
#include <vector>

#include "check/subject.hpp"
#include "protocol/checker_description.hpp"
#include "protocol/checker_event.hpp"
#include "protocol/line_writer.hpp"

namespace allocbench::checker {

class Server {
 public:
  // All arguments must outlive the server.
  Server(const check::SubjectList& subjects, const protocol::LineWriter& events)
      : subjects_(subjects), events_(events) {}
  // Answers commands until `quit`, the end of input, a malformed command or a lack of resources. Returns the exit code.
  int serve(std::istream& commands);

 private:
  template <class Command>
  protocol::CheckerEvent answer(const Command& command);
  void write(const protocol::CheckerEvent& event) const;

  const check::SubjectList& subjects_;
  const protocol::LineWriter& events_;
};

// Returns the subjects and models, as `--describe` prints them.
protocol::CheckerDescription describe(const check::SubjectList& subjects, std::vector<protocol::BrokenPlugin> broken);

}  // namespace allocbench::checker
