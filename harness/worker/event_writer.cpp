#include "harness/worker/event_writer.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

namespace allocbench::worker {

void EventWriter::write(const nlohmann::ordered_json& event) {
  // Device code may have put any bytes into a reason: invalid UTF-8 is replaced, not thrown about.
  const std::string line = event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category(), "cannot write an event");
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace allocbench::worker
