#include "protocol/line_writer.hpp"

#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

namespace allocbench::protocol {

void LineWriter::write(const nlohmann::ordered_json& json) const {
  const std::string line = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category(), "cannot write a line");
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace allocbench::protocol
