// Where in the source an operation was called. The CPU executor keys rendezvous by it and prints it in every diagnosis.
#pragma once

#include <cstdint>
#include <cstring>

namespace simt {

struct CallSite {
  const char* file = "";
  std::uint32_t line = 0;

  // As a defaulted argument it names the caller. Not consteval: GCC 12 would evaluate it where the default is declared.
  static constexpr CallSite here(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }

  // One place has several copies of its file name when a header is compiled into several units.
  friend bool operator==(const CallSite& a, const CallSite& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
  }
};

}  // namespace simt
