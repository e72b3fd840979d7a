#include "harness/front/common/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/units.hpp"

namespace allocbench::front {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

class Descriptor {
 public:
  // A pipe without a writer would block the plain open.
  explicit Descriptor(const std::string& path) : value_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

}  // namespace

std::string read_text_file(const std::string& path, const std::string& what, std::uint64_t limit_bytes) {
  const auto unreadable = [&](int error) {
    return UsageError(fmt::format("{} {} cannot be read: {}.", what, path, std::strerror(error)));
  };
  const Descriptor file(path);
  struct stat status = {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) throw unreadable(errno);
  if (!S_ISREG(status.st_mode)) {
    throw UsageError(fmt::format("{} {} must be a regular file; it is {}.", what, path, kind_of(status.st_mode)));
  }
  if (static_cast<std::uint64_t>(status.st_size) > limit_bytes) {
    throw UsageError(fmt::format("{} {} must not be larger than {}; it has {} bytes.", what, path,
                                 format_bytes(limit_bytes), status.st_size));
  }
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t count = read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw unreadable(errno);
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > limit_bytes) {  // it grows while we read
      throw UsageError(fmt::format("{} {} must not be larger than {}.", what, path, format_bytes(limit_bytes)));
    }
  }
}

}  // namespace allocbench::front
