// SessionAdaptor is the common part of all adaptors' sessions. An adaptor redefines malloc and free. SessionAdaptor
// passes detach() and release_all() on to the session of the wrapped allocator.
#pragma once

#include "allocators/support/contract/session.hpp"

namespace allocbench {

// `Inner` is the session of the wrapped allocator, or a reference to that allocator.
template <class Inner>
class SessionAdaptor {
 public:
  SIMT_FN explicit SessionAdaptor(Inner inner) : inner_(static_cast<Inner&&>(inner)) {}

  template <class Thread>
  SIMT_FN void detach(Thread& thread) {
    allocbench::detach(inner_, thread);
  }
  template <class Thread>
  SIMT_FN void release_all(Thread& thread) {
    allocbench::release_all(inner_, thread);
  }

 protected:
  Inner inner_;
};

}  // namespace allocbench
