// DeviceSizes is a RequestSizes in a form that kernels can read.
#pragma once

#include "simt/simt.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

// Owns the device array, if there is one.
class DeviceSizes {
 public:
  DeviceSizes(RequestSizes sizes, simt::Stream& stream) : host_(std::move(sizes)), array_(host_.array().size()) {
    array_.from_host(stream, host_.array());
  }
  const RequestSizes& host() const { return host_; }

  AnySize any() const { return {host_.is_fixed() ? host_.fixed_bytes() : 0, array_.data()}; }
  // Calls `use` with a FixedSize or a SizeArray.
  template <class Use>
  void visit(Use&& use) const {
    if (host_.is_fixed()) {
      use(FixedSize{host_.fixed_bytes()});
    } else {
      use(SizeArray{array_.data()});
    }
  }

 private:
  RequestSizes host_;
  simt::Buffer<std::uint32_t> array_;
};

}  // namespace allocbench
