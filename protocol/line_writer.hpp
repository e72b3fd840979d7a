// JSON lines on a file descriptor, each with one write, so that a reader never sees two lines mixed.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace allocbench::protocol {

class LineWriter {
 public:
  explicit LineWriter(int fd) : fd_(fd) {}
  // Bytes that are not UTF-8 become the replacement character: device code may have put anything into a reason. Throws
  // std::system_error when the reader is gone.
  void write(const nlohmann::ordered_json& json) const;

 private:
  int fd_;
};

}  // namespace allocbench::protocol
