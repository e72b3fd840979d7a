#include "harness/front/common/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace allocbench::front {
namespace {

constexpr std::array<const char*, 5> byte_units = {"B", "KiB", "MiB", "GiB", "TiB"};

struct Scale {
  double factor;
  const char* prefix;
};

std::string scaled(double value, const Scale* first, const Scale* last, std::string_view unit) {
  const Scale* scale = first;
  // A scale is also used for values that three digits round up to it. Otherwise 999.7 µs would be printed as 1000 µs.
  while (scale != last && value < scale->factor * 0.9995) ++scale;
  const double shown = value / scale->factor;
  const int digits = shown < 9.995 ? 2 : shown < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}{}", shown, digits, scale->prefix, unit);
}

std::optional<double> unit_factor(std::string_view unit) {
  if (unit.empty() || unit == "B") return 1.0;
  constexpr std::string_view prefixes = "KMGT";
  const auto position = prefixes.find(unit[0] == 'k' ? 'K' : unit[0]);
  const std::string_view rest = unit.substr(1);
  if (position == std::string_view::npos || rest != "iB") return std::nullopt;
  return std::ldexp(1.0, 10 * (static_cast<int>(position) + 1));
}

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || number < 0) return std::nullopt;
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const auto factor = unit_factor(unit);
  if (!factor) return std::nullopt;
  const double bytes = number * *factor;
  // Above 2^53 a double cannot hold every byte count.
  if (bytes > 0x1p53 || bytes != std::floor(bytes)) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::string nearest_size(std::string_view text) {
  if (parse_bytes(text)) return "";  // the size was refused for another reason
  const auto unit = text.find_first_not_of("0123456789.");
  if (unit == std::string_view::npos) return "";
  std::string letters(text.substr(text[unit] == ' ' ? unit + 1 : unit));
  for (char& letter : letters) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  constexpr std::string_view prefixes = "kmgt";
  if (letters.empty() || prefixes.find(letters[0]) == std::string_view::npos) return "";
  const std::string rest = letters.substr(1);
  if (!rest.empty() && rest != "b" && rest != "ib") return "";
  const std::string size = fmt::format("{}{}iB", text.substr(0, unit),
                                       static_cast<char>(std::toupper(static_cast<unsigned char>(letters[0]))));
  return parse_bytes(size) ? size : "";
}

std::string format_bytes(std::uint64_t bytes) {
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < byte_units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, byte_units[unit]);
}

std::string format_memory(std::uint64_t bytes) {
  double shown = static_cast<double>(bytes);
  std::size_t unit = 0;
  // A unit is also used for values that round up to it. Otherwise 1023.9 MiB would be printed as 1024 MiB.
  while (shown >= 1023.5 && unit + 1 < byte_units.size()) {
    shown /= 1024;
    ++unit;
  }
  // {:.3g} would print 1000 and more as powers of ten.
  return shown < 999.5 ? fmt::format("{:.3g} {}", shown, byte_units[unit])
                       : fmt::format("{:.0f} {}", shown, byte_units[unit]);
}

std::string counted(std::uint64_t count, std::string_view noun) {
  const bool same = count == 1 || noun == "series";
  const bool hisses = noun.ends_with("s") || noun.ends_with("ch");
  return fmt::format("{} {}{}", count, noun, same ? "" : hisses ? "es" : "s");
}

std::string_view is_or_are(std::uint64_t count) { return count == 1 ? "is" : "are"; }

std::string format_seconds(double seconds) {
  static constexpr std::array<Scale, 4> scales = {{{1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}}};
  return scaled(seconds, scales.data(), scales.data() + scales.size() - 1, "s");
}

std::string format_rate(double operations_per_second) {
  static constexpr std::array<Scale, 4> scales = {{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
  return scaled(operations_per_second, scales.data(), scales.data() + scales.size() - 1, "op/s");
}

std::string format_duration(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string format_limit(double seconds) {
  return seconds < 60 ? fmt::format("{:.4g} s", seconds) : format_duration(seconds);
}

}  // namespace allocbench::front
