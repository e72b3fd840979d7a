#include "protocol/sources.hpp"

#include <sstream>

namespace allocbench::protocol {
namespace {

// objcopy replaces this section of the program with a file of the same size. The text is volatile, so that the compiler
// does not use the placeholder.
[[gnu::section("allocbench_sources")]] const volatile char written_by_the_build[256] = "unknown\n\nunknown\n";

}  // namespace

Sources sources_in(std::string_view text) {
  std::istringstream lines{std::string(text)};
  Sources sources;
  std::string dirty;
  std::getline(lines, sources.revision);
  std::getline(lines, sources.measured_revision);
  std::getline(lines, dirty);
  if (dirty != "unknown") sources.dirty = dirty == "true";
  return sources;
}

Sources program_sources() {
  std::string text;
  for (const volatile char& letter : written_by_the_build) text += letter;
  return sources_in(text);
}

}  // namespace allocbench::protocol
