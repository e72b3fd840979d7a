#include "traces/npy.hpp"

#include <zlib.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <regex>

#include "traces/trace.hpp"

namespace allocbench::traces {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic{"\x93NUMPY\x01\x00", 8};
constexpr std::size_t aligned_to = 64;  // alignment of the first element, as the format requires

struct CloseFile {
  void operator()(gzFile file) const { gzclose(file); }
};

// gzread() also reads files that are not compressed.
std::vector<std::byte> contents(const fs::path& path) {
  const std::unique_ptr<std::remove_pointer_t<gzFile>, CloseFile> file(gzopen(path.c_str(), "rb"));
  if (!file) throw TraceError(path.string() + " cannot be opened");
  std::vector<std::byte> bytes;
  constexpr unsigned step = 1u << 20;
  while (true) {
    const std::size_t had = bytes.size();
    bytes.resize(had + step);
    const int count = gzread(file.get(), bytes.data() + had, step);
    if (count < 0) {
      int code = 0;
      throw TraceError(path.string() + " is damaged: " + gzerror(file.get(), &code));
    }
    bytes.resize(had + static_cast<std::size_t>(count));
    if (count == 0) break;
  }
  int code = Z_OK;
  const char* const text = gzerror(file.get(), &code);
  if (code != Z_OK && code != Z_STREAM_END) throw TraceError(path.string() + " is damaged: " + text);
  return bytes;
}

std::string header(const char* type, std::size_t count) {
  std::string text =
      std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
  const std::size_t before = magic.size() + 2;
  text.append((aligned_to - (before + text.size() + 1) % aligned_to) % aligned_to, ' ');
  return text + "\n";
}

}  // namespace

std::vector<std::byte> read_npy(const fs::path& path, const char* type) {
  fs::path packed = path;
  packed += ".gz";
  const fs::path found = fs::exists(path) || !fs::exists(packed) ? path : packed;
  std::vector<std::byte> bytes = contents(found);
  const auto damaged = [&](const std::string& what) { return TraceError(found.string() + " is damaged: " + what); };
  if (bytes.size() < magic.size() + 2 || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) {
    throw damaged("it does not begin as a NumPy array of format 1.0 does");
  }
  const std::size_t length = std::to_integer<std::size_t>(bytes[8]) | std::to_integer<std::size_t>(bytes[9]) << 8;
  const std::size_t begin = magic.size() + 2 + length;
  if (bytes.size() < begin) throw damaged("it ends in its header");
  const std::string text(reinterpret_cast<const char*>(bytes.data()) + magic.size() + 2, length);
  static const std::regex form(
      R"re(\{'descr': '([^']+)', 'fortran_order': (?:False|True), 'shape': \((\d+),\), \}\s*)re");
  std::smatch parts;
  if (!std::regex_match(text, parts, form))
    throw damaged("its header is not that of an array of one dimension: " + text);
  if (parts[1] != type) throw damaged("its type is " + parts[1].str() + " where " + type + " is expected");
  const std::size_t size = static_cast<std::size_t>(type[2] - '0');
  if ((bytes.size() - begin) / size != std::stoull(parts[2]) || (bytes.size() - begin) % size != 0) {
    throw damaged("it has " + std::to_string(bytes.size() - begin) + " bytes for " + parts[2].str() + " elements");
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(begin));
  return bytes;
}

void write_npy(const fs::path& path, const char* type, const void* data, std::size_t count, std::size_t bytes_of_one) {
  std::ofstream file(path, std::ios::binary);
  const std::string text = header(type, count);
  file.write(magic.data(), static_cast<std::streamsize>(magic.size()));
  file.put(static_cast<char>(text.size() & 0xff)).put(static_cast<char>(text.size() >> 8));
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(count * bytes_of_one));
  file.close();
  if (!file) throw TraceError(path.string() + " cannot be written: " + std::strerror(errno));
}

}  // namespace allocbench::traces
