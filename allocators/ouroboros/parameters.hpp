// All six reworked variants of Ouroboros share these parameters.
#pragma once

#include "allocators/support/contract/parameters.hpp"

namespace allocbench::ouroboros {

struct Parameters {
  std::uint64_t chunk_bytes = 8192;
  std::uint64_t ring_capacity = 0;
  std::uint64_t directory_capacity = 0;
  std::uint64_t reuse_capacity = 65536;
  std::uint32_t release_above = 838860;
  std::uint32_t crowd = 2;
  double device_heap_share = 0.0625;

  static auto fields() {
    using P = Parameters;
    return std::tuple{
        Field{"chunk_bytes", &P::chunk_bytes, "B", "bytes of a chunk, and of the largest page", "authors' code: 8192"}
            .between(64, 65536)
            .powers_of_two(),
        Field{
            "ring_capacity", &P::ring_capacity, "slots",
            "slots of the flat ring of a class (standard variants), rounded up to a power of two; page-based: a class "
            "owns at most so many pages; 0: enough for all chunks, but at most 1/64 of the pool per class",
            "authors' code: 8,388,608"}
            .between(0, 1u << 31),
        Field{"directory_capacity", &P::directory_capacity, "segments",
              "entries of the array that finds the segments of a class's queue (VA variants), rounded up to a power of "
              "two; half of them can be in use; 0: as many as the pool can need",
              "authors' code: 16,384"}
            .between(0, 1u << 30),
        Field{"reuse_capacity", &P::reuse_capacity, "chunks",
              "slots of the ring of chunks given back (chunk-based variants), rounded up to a power of two; chunks "
              "that do not fit stay in their class",
              "authors' code: 65,536"}
            .between(1, 1u << 30),
        Field{"release_above", &P::release_above, "chunks",
              "a chunk whose pages are all free leaves its class while that has more chunks than this in its queue "
              "(chunk-based variants); 0: always",
              "authors' code: 0.1 of 8,388,608"}
            .between(0, 1u << 30),
        Field{"crowd", &P::crowd, "groups",
              "lanes that call together bring a new chunk where more groups than this wait for chunks of their class, "
              "and at least half of the pool was never used (chunk-based variants)",
              "ours: the time of about two waits"}
            .between(0, 1u << 30),
        Field{"device_heap_share", &P::device_heap_share, "fraction",
              "share of the memory for the device heap, which serves requests above a chunk; 0: no device heap",
              "authors' code: 500 MB; of 8 GiB about this"}
            .between(0, 0.9)};
  }
};

}  // namespace allocbench::ouroboros
