// This file has a parallel loop over all cores of the host, for inputs and references of large workloads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace allocbench {

// Calls body(begin, end) for consecutive parts of [0, count), each on its own thread. The first part runs on the
// caller's thread. The whole loop runs there if `count` is less than twice `least_part`. `body` must not throw.
template <class Body>
void parallel_for(std::size_t count, const Body& body, std::size_t least_part = 1 << 16) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t parts = std::clamp<std::size_t>(count / least_part, 1, cores);
  std::vector<std::jthread> others;
  for (std::size_t part = 1; part < parts; ++part) {
    others.emplace_back([&body, begin = count * part / parts, end = count * (part + 1) / parts] { body(begin, end); });
  }
  body(std::size_t{0}, count / parts);
}

}  // namespace allocbench
