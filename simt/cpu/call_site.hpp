// CallSite is the place in the source where an operation was called. All lanes of a group must call an operation of the
// group at one site. Only sync() may be called at different sites. Diagnoses print the site.
#pragma once

#include <cstdint>
#include <cstring>

namespace simt {

struct CallSite {
  const char* file = "";
  std::uint32_t line = 0;

  // As a default argument, this function returns the place of the call. The function is not consteval, because GCC 12
  // would evaluate it at the declaration of the default.
  static constexpr CallSite here(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }

  // Each compiled unit that includes a header has its own copy of the header's file name, so the texts are compared
  // too.
  friend bool operator==(const CallSite& a, const CallSite& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
  }
};

}  // namespace simt
