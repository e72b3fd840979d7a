// Events as JSON lines on a file descriptor, each with one write, so that a reader never sees two events mixed.
#pragma once

#include <nlohmann/json.hpp>

namespace allocbench::worker {

class EventWriter {
 public:
  explicit EventWriter(int fd) : fd_(fd) {}
  // Throws std::system_error when nobody reads any more.
  void write(const nlohmann::ordered_json& event);

 private:
  int fd_;
};

}  // namespace allocbench::worker
