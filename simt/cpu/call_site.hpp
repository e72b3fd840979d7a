// CallSite is the place in the source where an operation was called. The CPU executor matches rendezvous by call site
// and prints it in every diagnosis.
#pragma once

#include <cstdint>
#include <cstring>

namespace simt {

struct CallSite {
  const char* file = "";
  std::uint32_t line = 0;

  // Returns the place of the caller if it is a default argument. It is not consteval, because GCC 12 would evaluate it
  // at the declaration of the default.
  static constexpr CallSite here(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }

  // If several units include a header, one place has several copies of its file name.
  friend bool operator==(const CallSite& a, const CallSite& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
  }
};

}  // namespace simt
