// Tests whether the vocabulary (simt/), in which allocators are written, costs anything on a GPU. Each of three kernels
// has one version in the vocabulary and one in CUDA and PTX. The program prints their registers, median times and the
// ratio of these times as JSON.
//
//   bump              All lanes add to the same word.
//   bump_aggregated   Lanes of a warp that arrive together make one addition.
//   bitmap            Every thread claims a free bit of a bitmap with fetch-or. It begins at a hashed bit, goes to the
//                     next word if a word is full, and releases its bit at the end.
//
// The launches of the two versions alternate, so that drift of clock and temperature affects both in the same way. The
// exit code is 1 if a version in the vocabulary needs more registers than the other, or more than 2 % more time.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "simt/simt.hpp"

namespace {

constexpr int launches = 200;
constexpr std::uint32_t blocks = 1024;
constexpr std::uint32_t threads_per_block = 256;
constexpr std::uint32_t threads = blocks * threads_per_block;
constexpr std::uint32_t bitmap_words = threads / 32 * 2;  // at least half of the bits stay free
constexpr double tolerance = 0.02;

SIMT_FN std::uint32_t hash(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

struct BumpVocabulary {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, unsigned long long* next, unsigned long long* results) const {
    results[thread.rank_in_grid()] = thread.atomic(*next).fetch_add(16, simt::relaxed);
  }
};

struct BumpByHand {
  template <class Thread>
  SIMT_FN void operator()(Thread&, unsigned long long* next, unsigned long long* results) const {
    results[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(next, 16ull);
  }
};

// Lanes of a warp that arrive together make one atomic.
struct AggregatedVocabulary {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, unsigned long long* next, unsigned long long* results) const {
    const auto group = thread.converged();
    unsigned long long first = 0;
    if (group.leader()) first = thread.atomic(*next).fetch_add(16ull * group.num_threads(), simt::relaxed);
    results[thread.rank_in_grid()] = group.broadcast(first) + 16ull * group.thread_rank();
  }
};

struct AggregatedByHand {
  template <class Thread>
  SIMT_FN void operator()(Thread&, unsigned long long* next, unsigned long long* results) const {
    const unsigned mask = __activemask();
    unsigned lanes_below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes_below));
    const unsigned rank = __popc(mask & lanes_below);
    unsigned long long first = 0;
    if (rank == 0) first = atomicAdd(next, 16ull * __popc(mask));
    results[blockIdx.x * blockDim.x + threadIdx.x] = __shfl_sync(mask, first, __ffs(mask) - 1) + 16ull * rank;
  }
};

struct BitmapVocabulary {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* words, std::uint32_t* results) const {
    const std::uint32_t rank = thread.rank_in_grid();
    const std::uint32_t start = hash(rank);
    std::uint32_t index = start % bitmap_words;
    std::uint32_t bit = 1u << (start >> 27);
    while ((thread.atomic(words[index]).fetch_or(bit, simt::acquire) & bit) != 0) {
      const std::uint32_t taken = thread.atomic(words[index]).load(simt::relaxed);
      if (~taken != 0) {
        bit = 1u << simt::count_trailing_zeros(~taken);
      } else {
        index = index + 1 == bitmap_words ? 0 : index + 1;
      }
    }
    results[rank] = index * 32 + simt::count_trailing_zeros(bit);
    thread.atomic(words[index]).fetch_and(~bit, simt::release);
  }
};

// atomicOr is relaxed, and a relaxed atomic with a fence costs more than an ordered one. So the ordered PTX instruction
// is the fair comparison.
SIMT_FN std::uint32_t or_acquire(std::uint32_t* word, std::uint32_t bits) {
  std::uint32_t old;
  asm volatile("atom.acquire.gpu.global.or.b32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(word)), "r"(bits)
               : "memory");
  return old;
}

SIMT_FN void and_release(std::uint32_t* word, std::uint32_t bits) {
  // As in the vocabulary's version, the kernel does not use the old value.
  [[maybe_unused]] std::uint32_t old;
  asm volatile("atom.release.gpu.global.and.b32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(word)), "r"(bits)
               : "memory");
}

struct BitmapByHand {
  template <class Thread>
  SIMT_FN void operator()(Thread&, std::uint32_t* words, std::uint32_t* results) const {
    const unsigned rank = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned start = hash(rank);
    unsigned index = start % bitmap_words;
    unsigned bit = 1u << (start >> 27);
    while ((or_acquire(words + index, bit) & bit) != 0) {
      const unsigned taken = *const_cast<volatile std::uint32_t*>(words + index);
      if (~taken != 0) {
        bit = 1u << (__ffs(static_cast<int>(~taken)) - 1);
      } else {
        index = index + 1 == bitmap_words ? 0 : index + 1;
      }
    }
    results[rank] = index * 32 + __ffs(static_cast<int>(bit)) - 1;
    and_release(words + index, ~bit);
  }
};

// The kernel BitmapByHand with relaxed built-ins and fences in place of PTX. It is reported but not judged.
struct BitmapBuiltins {
  template <class Thread>
  SIMT_FN void operator()(Thread&, std::uint32_t* words, std::uint32_t* results) const {
    const unsigned rank = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned start = hash(rank);
    unsigned index = start % bitmap_words;
    unsigned bit = 1u << (start >> 27);
    while ((atomicOr(words + index, bit) & bit) != 0) {
      const unsigned taken = *const_cast<volatile std::uint32_t*>(words + index);
      if (~taken != 0) {
        bit = 1u << (__ffs(static_cast<int>(~taken)) - 1);
      } else {
        index = index + 1 == bitmap_words ? 0 : index + 1;
      }
    }
    __threadfence();
    results[rank] = index * 32 + __ffs(static_cast<int>(bit)) - 1;
    __threadfence();
    atomicAnd(words + index, ~bit);
  }
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

template <class Kernel, class State, class Result>
double time_once(simt::Stream& stream, simt::Buffer<State>& state, simt::Buffer<Result>& results) {
  static simt::Event start;
  static simt::Event stop;
  state.fill_bytes(stream, 0);
  start.record(stream);
  simt::launch(stream, {blocks, threads_per_block}, Kernel{}, state.data(), results.data());
  stop.record(stream);
  stop.synchronize();
  return simt::Event::seconds_between(start, stop);
}

template <class Vocabulary, class ByHand, class State>
bool compare(simt::Stream& stream, const char* name, std::size_t state_words, bool judged, bool last) {
  simt::Buffer<State> state(state_words);
  simt::Buffer<State> results(threads);
  std::vector<double> vocabulary;
  std::vector<double> by_hand;
  for (int i = 0; i < 10; ++i) {
    time_once<Vocabulary>(stream, state, results);
    time_once<ByHand>(stream, state, results);
  }
  for (int i = 0; i < launches; ++i) {
    vocabulary.push_back(time_once<Vocabulary>(stream, state, results));
    by_hand.push_back(time_once<ByHand>(stream, state, results));
  }
  const int registers = simt::kernel_attributes<Vocabulary, State*, State*>().registers;
  const int registers_by_hand = simt::kernel_attributes<ByHand, State*, State*>().registers;
  const double ratio = median(vocabulary) / median(by_hand);
  std::printf(
      "    {\"name\": \"%s\", \"registers\": %d, \"registers_by_hand\": %d, \"median_us\": %.3f, "
      "\"median_by_hand_us\": %.3f, \"ratio\": %.4f}%s\n",
      name, registers, registers_by_hand, median(vocabulary) * 1e6, median(by_hand) * 1e6, ratio, last ? "" : ",");
  return !judged || (registers <= registers_by_hand && ratio <= 1 + tolerance);
}

}  // namespace

int main() try {
  if (simt::Device::count() == 0) {
    std::fprintf(stderr, "zero_cost: no CUDA device is present\n");
    return 3;
  }
  simt::Device device(0);
  simt::Stream stream(device);
  std::printf("{\n  \"device\": \"%s\", \"threads\": %u, \"launches\": %d,\n  \"kernels\": [\n",
              device.properties().name.c_str(), threads, launches);
  bool equal = compare<BumpVocabulary, BumpByHand, unsigned long long>(stream, "bump", 1, true, false);
  equal &=
      compare<AggregatedVocabulary, AggregatedByHand, unsigned long long>(stream, "bump_aggregated", 1, true, false);
  equal &= compare<BitmapVocabulary, BitmapByHand, std::uint32_t>(stream, "bitmap", bitmap_words, true, false);
  compare<BitmapVocabulary, BitmapBuiltins, std::uint32_t>(stream, "bitmap_against_fences", bitmap_words, false, true);
  std::printf("  ],\n  \"zero_cost\": %s\n}\n", equal ? "true" : "false");
  return equal ? 0 : 1;
} catch (const simt::Fault& fault) {
  std::fprintf(stderr, "zero_cost: %s\n", fault.what());
  return 3;
}
