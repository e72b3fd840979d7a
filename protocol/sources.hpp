// Sources states the commit and the hash of the code from which a program was built.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace allocbench::protocol {

struct Sources {
  std::string revision;           // the commit
  std::string measured_revision;  // hash of the code that a worker runs, without comments
  std::optional<bool> dirty;      // whether the work tree had changes in these files; empty outside of a work tree
};

// Reads the text that the build writes into a program or a plug-in. It has three lines: commit, hash, and `true`,
// `false` or `unknown`.
Sources sources_in(std::string_view text);

// Returns the sources of this program. The build writes them into the linked file (cmake/AllocbenchRevision.cmake), so
// a new commit compiles nothing again. For programs into which the build writes nothing, such as unit tests, the
// revision is "unknown", the hash is empty and `dirty` is nullopt.
Sources program_sources();

}  // namespace allocbench::protocol
