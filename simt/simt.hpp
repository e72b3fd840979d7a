// This header is the SIMT vocabulary: the calls for device and host work that allocators and workloads share. Counting,
// parked variables, reservations, stream pools and the GPU's global timer have their own headers.
#pragma once

#include "simt/bits.hpp"
#include "simt/common.hpp"
#include "simt/kernels.hpp"

#if SIMT_CUDA
#include "simt/cuda/deadline.hpp"
#include "simt/cuda/host.hpp"
#if defined(__CUDACC__)
#include "simt/cuda/atomic.hpp"
#include "simt/cuda/group.hpp"
#include "simt/cuda/thread.hpp"
#endif
#else
#include "simt/cpu/atomic.hpp"
#include "simt/cpu/deadline.hpp"
#include "simt/cpu/group.hpp"
#include "simt/cpu/host.hpp"
#include "simt/cpu/thread.hpp"
#endif
