#include "harness/front/common/nearest_name.hpp"

#include <algorithm>
#include <filesystem>

#include "harness/front/common/limits.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// With fewer letters, many names have the same beginning.
constexpr std::size_t least_prefix = 3;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // The dynamic programme needs three rows, because a swap looks two rows back.
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  for (std::size_t column = 0; column <= b.size(); ++column) last[column] = column;
  for (std::size_t row = 1; row <= a.size(); ++row) {
    current[0] = row;
    for (std::size_t column = 1; column <= b.size(); ++column) {
      const bool same = a[row - 1] == b[column - 1];
      current[column] = std::min({last[column] + 1, current[column - 1] + 1, last[column - 1] + (same ? 0u : 1u)});
      if (row > 1 && column > 1 && a[row - 1] == b[column - 2] && a[row - 2] == b[column - 1]) {
        current[column] = std::min(current[column], before_last[column - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

std::string nearest_name(std::string_view found, const std::vector<std::string>& valid) {
  std::string best;
  if (found.size() > limits::compared_letters) return best;
  // Up to a third of the letters may be wrong. Two letters may always be wrong, so that short names get suggestions,
  // too.
  std::size_t best_distance = std::max<std::size_t>(2, found.size() / 3) + 1;
  for (const std::string& name : valid) {
    const std::size_t distance = edit_distance(found, name);
    if (distance < best_distance && distance < name.size()) {
      best_distance = distance;
      best = name;
    }
  }
  if (!best.empty() || found.size() < least_prefix) return best;
  for (const std::string& name : valid) {
    if (!name.starts_with(found)) continue;
    if (best.empty() || best.starts_with(name)) best = name;
    if (!name.starts_with(best)) return "";
  }
  return best;
}

std::string nearest_folder(const std::string& folder) {
  fs::path found;
  for (const fs::path& part : fs::path(folder).lexically_normal()) {
    fs::path next = found / part;
    if (!fs::is_directory(next)) {
      std::vector<std::string> names;
      std::error_code error;  // a folder that cannot be read has no names
      for (const auto& entry : fs::directory_iterator(found.empty() ? fs::path(".") : found, error)) {
        if (entry.is_directory(error)) names.push_back(entry.path().filename().string());
      }
      const std::string name = nearest_name(part.string(), names);
      if (name.empty()) return "";
      next = found / name;
    }
    found = next;
  }
  return found.string();
}

}  // namespace allocbench::front
