// Which sources a program was built from.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace allocbench::protocol {

struct Sources {
  std::string revision;           // the commit
  std::string measured_revision;  // the hash over all but results/ and docs/
  std::optional<bool> dirty;      // the work tree had changes in that; nullopt outside a work tree
};

// Reads the text that the build writes into a program or a plug-in. It has three lines: commit, hash, and `true`,
// `false` or `unknown`.
Sources sources_in(std::string_view text);

// The sources of this program. The build writes them into the linked file (cmake/AllocbenchRevision.cmake), so an edit
// links only what it changes. Programs that measure nothing, such as unit tests, have "unknown", no hash, nullopt.
Sources program_sources();

}  // namespace allocbench::protocol
