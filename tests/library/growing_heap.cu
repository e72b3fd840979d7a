// This program checks the rules of growing_heap_test.cpp on a GPU.
#include <cstdio>
#include <exception>

#include "tests/library/growing_heap.hpp"

int main() try {
  for (const auto problem_of : {allocbench::growing::problem_of_growth, allocbench::growing::problem_of_blocks}) {
    const std::string problem = problem_of();
    if (problem.empty()) continue;
    std::fprintf(stderr, "growing_heap: %s\n", problem.c_str());
    return 1;
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "growing_heap: %s\n", error.what());
  return 3;
}
