// The parameters of the published form of Ouroboros have the defaults of the authors' code, except `statistics` and
// `device_heap_share`.
#pragma once

#include "allocators/support/contract/parameters.hpp"

namespace allocbench::ouroboros::published {

struct Parameters {
  std::uint64_t chunk_bytes = 8192;
  std::uint64_t ring_capacity = 8388608;
  std::uint64_t directory_capacity = 16384;
  std::uint64_t reuse_capacity = 65536;
  std::uint32_t held_back = 10;
  std::uint32_t release_above = 838860;
  bool statistics = false;
  double device_heap_share = 0.0625;

  static auto fields() {
    using P = Parameters;
    return std::tuple{
        Field{"chunk_bytes", &P::chunk_bytes, "B", "bytes of the data of a chunk, and of the largest page",
              "authors' code: 8192"}
            .between(64, 8192)
            .powers_of_two(),
        Field{
            "ring_capacity", &P::ring_capacity, "slots",
            "slots of the flat ring of a class (standard variants); in a pool of which the rings would take more than "
            "an eighth, a ring has at most as many slots as the pool has pages of the class, or eight times its chunks",
            "authors' code: 8,388,608"}
            .between(64, 1u << 31)
            .powers_of_two(),
        Field{"directory_capacity", &P::directory_capacity, "queue chunks",
              "entries of the array that finds the queue chunks of a class (VA variants)", "authors' code: 16,384"}
            .between(4, 1u << 20)
            .powers_of_two(),
        Field{"reuse_capacity", &P::reuse_capacity, "chunks",
              "slots of the ring of chunks to be used again; a chunk that does not fit is lost",
              "authors' code: 65,536"}
            .between(4, 1u << 30)
            .powers_of_two(),
        Field{"held_back", &P::held_back, "chunks",
              "emptied queue chunks of a class that are kept for slow readers (VL variants)", "authors' code: 10"}
            .between(0, 1000),
        Field{
            "release_above", &P::release_above, "chunks",
            "a chunk whose pages are all free leaves its class while that has more chunks than this in its queue (C-S)",
            "authors' code: 0.1 of 8,388,608"}
            .between(0, 1u << 30),
        Field{"statistics", &P::statistics, "", "every malloc and free adds one to a counter", "authors' code: on"},
        Field{"device_heap_share", &P::device_heap_share, "fraction",
              "share of the memory for the device heap, which serves requests above a chunk; 0: no device heap",
              "authors' code: 500 MiB; of 8 GiB about this"}
            .between(0, 0.9)};
  }
};

}  // namespace allocbench::ouroboros::published
