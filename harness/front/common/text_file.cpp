#include "harness/front/common/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

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
  // With O_NONBLOCK, open() does not wait until another program opens a pipe for writing.
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

UsageError damaged(const std::string& path, const std::string& what) {
  return UsageError(fmt::format("{} {} is damaged: it cannot be unpacked.", what, path));
}

// Collects the unpacked text piece by piece.
class Unpacked {
 public:
  Unpacked(const std::string& path, const std::string& what, std::uint64_t limit_bytes)
      : path_(path), what_(what), limit_bytes_(limit_bytes) {}

  std::uint8_t* room() { return piece_.data(); }
  std::size_t room_bytes() const { return piece_.size(); }
  void take(std::size_t bytes) {
    text_.append(reinterpret_cast<const char*>(piece_.data()), bytes);
    if (text_.size() > limit_bytes_) {
      throw UsageError(
          fmt::format("{} {} must not be larger than {} unpacked.", what_, path_, format_bytes(limit_bytes_)));
    }
  }
  std::string text() && { return std::move(text_); }

 private:
  const std::string& path_;
  const std::string& what_;
  std::uint64_t limit_bytes_;
  std::array<std::uint8_t, 65536> piece_;
  std::string text_;
};

// Several gzip members in a row form one text.
void unpack_gz(const std::string& packed, const std::string& path, const std::string& what, Unpacked& unpacked) {
  constexpr int gzip_only = 16 + MAX_WBITS;
  z_stream stream = {};
  if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, void (*)(z_stream*)> guard(&stream, [](z_stream* each) { inflateEnd(each); });
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int state = Z_OK;
  while (state != Z_STREAM_END || stream.avail_in > 0) {
    if (state == Z_STREAM_END && inflateReset(&stream) != Z_OK) throw damaged(path, what);
    stream.next_out = unpacked.room();
    stream.avail_out = static_cast<uInt>(unpacked.room_bytes());
    state = inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END) throw damaged(path, what);  // includes a file that was cut
    unpacked.take(unpacked.room_bytes() - stream.avail_out);
  }
}

void unpack_xz(const std::string& packed, const std::string& path, const std::string& what, Unpacked& unpacked) {
  constexpr std::uint64_t memory_bytes = 256u << 20;  // xz -9 needs 65 MiB
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, memory_bytes, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> guard(&stream, [](lzma_stream* each) { lzma_end(each); });
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  lzma_ret state = LZMA_OK;
  while (state != LZMA_STREAM_END) {
    stream.next_out = unpacked.room();
    stream.avail_out = unpacked.room_bytes();
    state = lzma_code(&stream, LZMA_FINISH);
    if (state != LZMA_OK && state != LZMA_STREAM_END) throw damaged(path, what);  // includes a file that was cut
    unpacked.take(unpacked.room_bytes() - stream.avail_out);
  }
}

std::string as_text(std::string content, const std::string& path, const std::string& what, std::uint64_t limit_bytes) {
  const bool gz = path.ends_with(".gz");
  if (!gz && !path.ends_with(".xz")) return content;
  Unpacked unpacked(path, what, limit_bytes);
  (gz ? unpack_gz : unpack_xz)(content, path, what, unpacked);
  return std::move(unpacked).text();
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
    if (count == 0) return as_text(std::move(text), path, what, limit_bytes);
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > limit_bytes) {  // the file grows while it is read
      throw UsageError(fmt::format("{} {} must not be larger than {}.", what, path, format_bytes(limit_bytes)));
    }
  }
}

void write_text_file(const std::string& path, const std::string& text) {
  // Each call has its own draft, because `report` and a run may write the same file at once.
  static std::atomic<unsigned> calls = 0;
  const std::string draft = fmt::format("{}.{}-{}.new", path, getpid(), calls++);
  std::error_code error;
  std::ofstream file(draft, std::ios::binary);
  file << text;
  file.close();
  if (file) {
    std::filesystem::rename(draft, path, error);
  } else {
    error.assign(errno != 0 ? errno : EIO, std::generic_category());
  }
  if (!error) return;
  std::error_code ignored;
  std::filesystem::remove(draft, ignored);
  throw EnvironmentError(fmt::format("{} cannot be written: {}.", path, error.message()));
}

void create_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder)) {
    throw EnvironmentError(
        fmt::format("Cannot create the folder {}: {}.", folder, error ? error.message() : "a file has that name"));
  }
}

void require_writable_folder(const std::string& folder) {
  create_folder(folder);
  const std::string probe = (std::filesystem::path(folder) / ".allocbench-probe").string();
  write_text_file(probe, "");
  std::filesystem::remove(probe);
}

}  // namespace allocbench::front
