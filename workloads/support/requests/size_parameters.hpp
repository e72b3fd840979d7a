// SizeParameters are the parameters of workloads for the sizes of requests: one size, a range, or a weighted list.
#pragma once

#include <algorithm>
#include <tuple>

#include "allocators/support/contract/parameters.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

struct SizeParameters {
  std::string sizes = "fixed";
  std::uint64_t request_bytes = 16;
  std::uint32_t min_bytes = 4;
  std::uint32_t max_bytes = 8192;
  std::vector<std::uint64_t> list_bytes = {16, 64, 256, 1024, 4096};
  std::vector<std::uint64_t> list_weights = {};

  std::uint64_t largest_request() const {
    if (sizes == "uniform") return max_bytes;
    if (sizes == "list") return list_bytes.empty() ? 0 : *std::max_element(list_bytes.begin(), list_bytes.end());
    return request_bytes;
  }

  std::uint64_t smallest_request() const {
    if (sizes == "uniform") return min_bytes;
    if (sizes == "list" && !list_bytes.empty()) return *std::min_element(list_bytes.begin(), list_bytes.end());
    return request_bytes;
  }

  RequestSizes request_sizes(std::uint32_t requests, std::uint64_t seed) const {
    if (sizes == "uniform") return RequestSizes::uniform(min_bytes, max_bytes, requests, seed);
    if (sizes == "list") return RequestSizes::list(list_bytes, list_weights, requests, seed);
    return RequestSizes::fixed(request_bytes);
  }
};

// Returns the fields that the parameter struct P inherits from SizeParameters.
template <class P>
auto size_fields() {
  const auto member = []<class T>(T SizeParameters::*base) -> T P::* { return base; };
  using S = SizeParameters;
  constexpr double most_bytes = 1ull << 40;
  constexpr double most_listed = UINT32_MAX;
  return std::tuple{
      Field{"sizes", member(&S::sizes), "",
            "distribution of the request sizes: fixed (request_bytes), uniform (min_bytes to max_bytes), list "
            "(list_bytes with list_weights)",
            "uniform: Winter et al., PPoPP'21, fig. 9.d; list: assumed"}
          .one_of({"fixed", "uniform", "list"}),
      Field{"request_bytes", member(&S::request_bytes), "B", "size of every request (sizes = fixed)", "all papers"}
          .between(1, most_bytes),
      Field{"min_bytes", member(&S::min_bytes), "B", "smallest request (sizes = uniform)",
            "Winter et al., PPoPP'21, fig. 9.d"}
          .between(1, most_listed),
      Field{"max_bytes", member(&S::max_bytes), "B", "largest request (sizes = uniform)",
            "Winter et al., PPoPP'21, fig. 9.d"}
          .between(1, most_listed),
      Field{"list_bytes", member(&S::list_bytes), "B", "request sizes (sizes = list)",
            "assumed: a spread of common sizes"}
          .between(1, most_listed),
      Field{"list_weights", member(&S::list_weights), "", "weights of list_bytes; empty = all equal (sizes = list)",
            "assumed"}
          .between(0, most_listed)};
}

}  // namespace allocbench
