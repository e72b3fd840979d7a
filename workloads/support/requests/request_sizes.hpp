// RequestSizes are the request sizes of a workload: fixed, uniform, log-normal or drawn from a weighted list. The size
// of a request depends only on the parameters, the seed, and the caller.
//
// On the host a RequestSizes knows every size. A kernel gets a FixedSize or a SizeArray. FixedSize is one word by
// value, so equal sizes cost a timed kernel nothing extra. SizeArray reads a precomputed array.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simt/common.hpp"

namespace allocbench {

struct FixedSize {
  std::uint64_t bytes;
  SIMT_HOST_FN std::size_t operator[](std::uint32_t) const { return bytes; }
};

struct SizeArray {
  const std::uint32_t* bytes;
  SIMT_HOST_FN std::size_t operator[](std::uint32_t caller) const { return bytes[caller]; }
};

// FixedSize or SizeArray, chosen by a uniform branch. Kernels that use it are compiled once, and not once for each of
// the two types.
struct AnySize {
  std::uint64_t fixed = 0;
  const std::uint32_t* array = nullptr;
  SIMT_HOST_FN std::size_t operator[](std::uint32_t request) const { return array == nullptr ? fixed : array[request]; }
};

class RequestSizes {
 public:
  static RequestSizes fixed(std::uint64_t bytes);
  // Draws integers from `min` to `max`, both included. Throws std::invalid_argument if `min` exceeds `max`.
  static RequestSizes uniform(std::uint32_t min, std::uint32_t max, std::uint32_t callers, std::uint64_t seed);
  // Draws log-normal sizes. About half of the requests are below `median`, and `sigma` is the standard deviation of the
  // logarithm. Values outside [min, max] are set to the nearer bound. Throws std::invalid_argument if `min` exceeds
  // `max`.
  static RequestSizes log_normal(double median, double sigma, std::uint32_t min, std::uint32_t max,
                                 std::uint32_t callers, std::uint64_t seed);
  // Draws sizes from a list. `weights` may have any sum; if it is empty, all weights are equal. Throws
  // std::invalid_argument if `sizes` is empty or has a size of 4 GiB or more, if the lists have different lengths or if
  // all weights are zero.
  static RequestSizes list(const std::vector<std::uint64_t>& sizes, const std::vector<std::uint64_t>& weights,
                           std::uint32_t callers, std::uint64_t seed);

  bool is_fixed() const { return sizes_.empty(); }
  std::uint64_t fixed_bytes() const { return fixed_; }
  const std::vector<std::uint32_t>& array() const { return sizes_; }

  std::uint64_t operator[](std::size_t caller) const { return is_fixed() ? fixed_ : sizes_[caller]; }
  std::uint64_t largest() const;
  // Returns the pool bytes of `callers` requests if the size is fixed, otherwise those of all drawn requests. Each
  // request is rounded up to the project's alignment of 16.
  std::uint64_t total_bytes(std::uint64_t callers) const;

 private:
  std::uint64_t fixed_ = 0;
  std::vector<std::uint32_t> sizes_;
};

}  // namespace allocbench
