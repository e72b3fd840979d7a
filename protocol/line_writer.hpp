// LineWriter writes JSON lines to a file descriptor. It writes a line with one call of write(). It calls again only if
// the system accepted less than the whole line or a signal interrupted the call.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace allocbench::protocol {

class LineWriter {
 public:
  explicit LineWriter(int fd) : fd_(fd) {}
  // Bytes that are not UTF-8 become the replacement character, because reasons from device code may contain any bytes.
  // Throws std::system_error if writing fails, for example because the reader is gone.
  void write(const nlohmann::ordered_json& json) const;

 private:
  int fd_;
};

}  // namespace allocbench::protocol
