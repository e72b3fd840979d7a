#include "harness/front/common/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

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

// Several members in a row are one text, as gzip has it.
std::string unpacked(const std::string& packed, const std::string& path, const std::string& what,
                     std::uint64_t limit_bytes) {
  const auto damaged = [&] { return UsageError(fmt::format("{} {} is damaged: it cannot be unpacked.", what, path)); };
  constexpr int gzip_only = 16 + MAX_WBITS;
  z_stream stream = {};
  if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, void (*)(z_stream*)> guard(&stream, [](z_stream* each) { inflateEnd(each); });
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  char buffer[65536];
  int state = Z_OK;
  while (state != Z_STREAM_END || stream.avail_in > 0) {
    if (state == Z_STREAM_END && inflateReset(&stream) != Z_OK) throw damaged();
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    state = inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END) throw damaged();  // also where the file was cut
    text.append(buffer, sizeof buffer - stream.avail_out);
    if (text.size() > limit_bytes) {
      throw UsageError(
          fmt::format("{} {} must not be larger than {} unpacked.", what, path, format_bytes(limit_bytes)));
    }
  }
  return text;
}

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
    if (count == 0) return path.ends_with(".gz") ? unpacked(text, path, what, limit_bytes) : text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > limit_bytes) {  // it grows while we read
      throw UsageError(fmt::format("{} {} must not be larger than {}.", what, path, format_bytes(limit_bytes)));
    }
  }
}

}  // namespace allocbench::front
