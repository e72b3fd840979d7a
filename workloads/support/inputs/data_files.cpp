#include "workloads/support/inputs/data_files.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

namespace allocbench {

namespace {

std::vector<std::filesystem::path> data_folders() {
  std::vector<std::filesystem::path> folders;
  if (const char* chosen = std::getenv("ALLOCBENCH_DATA")) folders.emplace_back(chosen);
  folders.emplace_back("data");
  folders.emplace_back(ALLOCBENCH_SOURCE_DATA);
  return folders;
}

bool is_file(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none);
}

}  // namespace

bool has_data_file(const std::string& name) {
  const std::vector<std::filesystem::path> folders = data_folders();
  return std::any_of(folders.begin(), folders.end(), [&](const auto& folder) { return is_file(folder / name); });
}

std::filesystem::path find_data_file(const std::string& name) {
  std::string looked;
  for (const std::filesystem::path& folder : data_folders()) {
    if (is_file(folder / name)) return folder / name;
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  throw std::invalid_argument("no file " + name + " in " + looked +
                              "; data/README.md says where to get it, --data or ALLOCBENCH_DATA names another folder");
}

std::string read_text_file(const std::filesystem::path& path) {
  // gzread returns the content of uncompressed files unchanged.
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw std::invalid_argument("cannot open " + path.string());
  std::string text;
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    const int bytes = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    if (bytes < 0) throw std::invalid_argument(path.string() + " is damaged: " + gzerror(file.get(), nullptr));
    if (bytes == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
}

}  // namespace allocbench
