#include "harness/front/common/output.hpp"

#include <cerrno>
#include <cstdio>

namespace allocbench::front {
namespace {

int first_error = 0;

void note(bool written) {
  if (!written && errno != EPIPE && first_error == 0) first_error = errno;
}

void put(std::FILE* file, std::string_view text) {
  note(std::fwrite(text.data(), 1, text.size(), file) == text.size());
}

}  // namespace

void put_on_stdout(std::string_view text) { put(stdout, text); }

void put_on_stderr(std::string_view text) {
  note(std::fflush(stdout) == 0);
  put(stderr, text);
}

int lost_output() {
  note(std::fflush(stdout) == 0);
  return first_error;
}

}  // namespace allocbench::front
