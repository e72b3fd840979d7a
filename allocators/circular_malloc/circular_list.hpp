// CircularList is the common part of the CMalloc family: a circular list of chunks over a pre-split pool, and the
// places where walks start.
//
// Paper: Vinkler & Havran 2015, sections 4.2-4.4.
//
// Data: headers (headers.hpp), the pre-split pool (pre_split.hpp), and one roving offset or one per SM ("multi" forms).
// The published malloc and free are in algorithm_3.hpp. The reworked ones are in side_table_list.hpp.
//
// Pool: An offset reaches 32 or 64 GiB (headers.hpp), and create() refuses larger pools. A fresh pool is divided, so
// its largest chunk limits its largest request (pre_split.hpp).
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "allocators/circular_malloc/headers.hpp"
#include "allocators/circular_malloc/pre_split.hpp"
#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench::circular {

enum class Offsets { one, per_sm };

struct CircularParameters {
  std::uint32_t max_fragmentation = 2;
  std::uint32_t min_chunk_bytes = granule_bytes;
  std::uint32_t offset_count = 0;
  std::uint32_t max_steps = 0;

  static auto fields() {
    using P = CircularParameters;
    return std::tuple{Field{"max_fragmentation", &P::max_fragmentation, "ratio",
                            "a chunk is split if it is at least this many times the request",
                            "sec. 4.2 (value from the authors' library)"}
                          .between(1, 1024),
                      Field{"min_chunk_bytes", &P::min_chunk_bytes, "B", "smallest chunk of the pre-split pool",
                            "sec. 4.2 (value from the authors' library)"}
                          .between(granule_bytes, 1 << 20)
                          .powers_of_two(),
                      Field{"offset_count", &P::offset_count, "offsets",
                            "roving offsets and pre-split heaps of the multi variants; 0 = one per SM", "sec. 4.4"}
                          .between(0, 65536),
                      Field{"max_steps", &P::max_steps, "steps",
                            "give up a search after this many list steps; 0 = published forms: four times the chunks "
                            "of the fresh pool, at least 1,000,000; reworked forms: after two laps",
                            "authors' library: 1,000,000 in its tests"}};
  }
};

// Writes the headers of the pre-split pool. The threads of the grid divide the headers among themselves.
template <class Layout>
struct WritePreSplit {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Layout layout, PreSplit split) const {
    for (std::uint32_t i = thread.rank_in_grid(); i < split.headers(); i += thread.grid_size()) {
      const std::uint32_t in_heaps = split.headers() - 2;
      if (i < in_heaps) {
        const std::uint32_t heap = i / split.chunks_per_heap();
        const std::uint32_t node = i % split.chunks_per_heap();
        const std::uint32_t chunk = split.chunk(heap, node);
        layout.header(chunk).initialise(thread, chunk + split.chunk_size(node), false);
      } else if (i == in_heaps) {
        layout.header(split.last_chunk()).initialise(thread, split.granules, false);
      } else {
        layout.header(split.granules).initialise(thread, 0, true);
      }
    }
  }
};

// RovingOffset is a place where walks start.
struct RovingOffset {
  std::uint32_t chunk;
};

struct PlaceOffsets {
  template <class Thread, class Offset>
  SIMT_FN void operator()(Thread& thread, Offset* offsets, PreSplit split) const {
    for (std::uint32_t i = thread.rank_in_grid(); i < split.heaps; i += thread.grid_size()) {
      thread.atomic(offsets[i].chunk).store(i * split.heap_granules(), simt::relaxed);
    }
  }
};

template <class Header, template <class> class Place, Offsets offsets_kind, class Offset = RovingOffset>
class CircularList {
 public:
  using Parameters = CircularParameters;
  using Layout = Place<Header>;

  // Returns the largest request that a fresh pool serves. With one heap per SM, every GPU of up to 256 SMs serves this
  // request.
  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    const std::uint64_t granules = granules_of(pool_bytes);
    const bool per_sm = offsets_kind == Offsets::per_sm && parameters.offset_count == 0;
    const std::uint32_t least_heaps = offsets_kind == Offsets::one || per_sm ? 1 : parameters.offset_count;
    const std::uint32_t most_heaps = per_sm ? 256 : least_heaps;
    std::size_t least = granules * granule_bytes;
    for (std::uint32_t heaps = least_heaps; heaps <= most_heaps && heaps < granules; ++heaps) {
      least = std::min(least, largest_request(granules, heaps, parameters));
    }
    return granules <= least_heaps || granules > Header::max_granules ? 0 : least;
  }
  // Returns the largest request of this pool when it is fresh.
  std::size_t largest_request() const { return largest_request_; }
  // In the multi forms, this heap has two roving offsets on one list. A freed chunk merges only with the next one, so
  // the final sizes of free chunks depend on the order of the frees. Larger requests may then find no room.
  static SmallHeap<Parameters> small_heap() {
    constexpr bool has_side_table = std::is_same_v<Layout, SideTable<Header>>;
    return {.pool_bytes = 1024,
            .parameters = {.offset_count = 2},
            .serves_other_sizes = 0,
            .serves_new = has_side_table ? 1024 / granule_bytes : 0};
  }

  void reset(simt::Stream& stream) {
    constexpr std::uint32_t threads = 256;
    const std::uint32_t blocks = std::min((split_.headers() + threads - 1) / threads, 4096u);
    simt::launch(stream, {blocks, threads}, WritePreSplit<Layout>{}, layout_, split_);
    simt::launch(stream, {1, threads}, PlaceOffsets{}, offsets_, split_);
  }

  // Follows the list on the host while no kernel runs. Chunk indices must increase strictly from 0 to the end marker.
  // Then the chunks cover the pool. The end marker must be used and lead to chunk 0.
  std::string broken_invariant(simt::Stream& stream) const {
    constexpr std::size_t stride = std::is_same_v<Layout, SideTable<Header>> ? sizeof(Header) : granule_bytes;
    const std::byte* const first = reinterpret_cast<const std::byte*>(&layout_.header(0));
    const std::size_t bytes = split_.granules * stride + sizeof(Header);
    // Headers inside a large pool may be far apart, so a piece is copied when the walk reaches it.
    std::vector<std::byte> piece(std::min<std::size_t>(bytes, std::size_t{256} << 10));
    std::size_t begin = bytes;  // begin of the copied piece; no piece is copied yet
    const auto header_at = [&](std::uint32_t chunk) {
      const std::size_t place = chunk * stride;
      if (place < begin || place + sizeof(Header) > begin + piece.size()) {
        begin = std::min(place, bytes - piece.size());
        simt::copy_to_host(stream, piece.data(), first + begin, piece.size());
      }
      Header header;
      std::memcpy(&header, piece.data() + (place - begin), sizeof header);
      return header.decoded();
    };
    for (std::uint32_t chunk = 0; chunk != split_.granules;) {
      const std::uint32_t next = header_at(chunk).next;
      if (next <= chunk || next > split_.granules) {
        return "chunk " + std::to_string(chunk) + " is followed by " + std::to_string(next) + ", outside (" +
               std::to_string(chunk) + ", " + std::to_string(split_.granules) + "]";
      }
      chunk = next;
    }
    const LockResult end = header_at(split_.granules);
    if (end.won || end.next != 0) return "the end marker is free or does not close the circle";
    return {};
  }

 protected:
  template <class Form>
  static Form lay_out(Arena& arena, const Parameters& parameters) {
    constexpr std::string_view name = Form::traits.name;
    Form form;
    CircularList& allocator = form;
    const Pool pool = arena.pool();
    const std::uint64_t granules = granules_of(pool.bytes);
    const std::uint32_t heaps = offsets_kind == Offsets::one   ? 1
                                : parameters.offset_count != 0 ? parameters.offset_count
                                                               : arena.stream().device().properties().sm_count;
    if (granules > Header::max_granules) {
      throw Unsupported(std::string(name) + " addresses at most " +
                        std::to_string(Header::max_granules * granule_bytes) + " bytes of pool");
    }
    if (granules < heaps + 1) {
      throw Unsupported(std::string(name) + " needs a pool of at least " + std::to_string((heaps + 3) * granule_bytes) +
                        " bytes");
    }
    allocator.layout_.base = pool.base + header_shift;
    if constexpr (requires { allocator.layout_.table; }) {
      allocator.layout_.table = arena.metadata<Header>(granules + 1);
    }
    allocator.offsets_ = arena.metadata<Offset>(heaps);
    allocator.split_ =
        PreSplit::fit(static_cast<std::uint32_t>(granules), heaps, parameters.min_chunk_bytes / granule_bytes);
    allocator.max_fragmentation_ = parameters.max_fragmentation;
    allocator.max_steps_ = parameters.max_steps;
    allocator.limit_.bytes = granules * granule_bytes - Layout::header_bytes_in_pool;
    allocator.largest_request_ = largest_request(granules, heaps, parameters);
    allocator.reset(arena.stream());
    return form;
  }

  // Returns how many granules a request of this many bytes needs, with the header if it lies in the pool.
  static SIMT_FN std::uint32_t granules_for(std::size_t bytes) {
    return static_cast<std::uint32_t>(units_of(std::uint64_t{bytes}, granule_log2, Layout::header_bytes_in_pool));
  }

  template <class Thread>
  SIMT_FN std::uint32_t& offset_of(Thread& thread) const {
    if constexpr (offsets_kind == Offsets::one) {
      return offsets_->chunk;
    } else {
      // SM ids need not be dense. The thread may move to another SM, so it reads its SM once per operation.
      const std::uint32_t sm = thread.sm();
      return offsets_[sm < split_.heaps ? sm : sm % split_.heaps].chunk;
    }
  }

  Layout layout_;
  Offset* offsets_ = nullptr;
  PreSplit split_;
  std::uint32_t max_fragmentation_ = 2;
  std::uint32_t max_steps_ = 0;
  RequestLimit limit_;

 private:
  // Headers in the pool are shifted so that the payload behind them is aligned.
  static constexpr std::size_t header_shift =
      Layout::header_bytes_in_pool == 0 ? 0 : granule_bytes - Layout::header_bytes_in_pool;

  // Returns the number of granules of all chunks. With headers in the pool, the end marker takes the last granule.
  static std::uint64_t granules_of(std::size_t pool_bytes) {
    if (pool_bytes < header_shift + 2 * granule_bytes) return 0;
    return (pool_bytes - header_shift) / granule_bytes - (Layout::header_bytes_in_pool == 0 ? 0 : 1);
  }

  // Returns the largest request of a fresh pool of heaps + 1 to max_granules granules.
  static std::size_t largest_request(std::uint64_t granules, std::uint32_t heaps, const Parameters& parameters) {
    const PreSplit split = PreSplit::fit(static_cast<std::uint32_t>(std::min(granules, Header::max_granules)), heaps,
                                         parameters.min_chunk_bytes / granule_bytes);
    const std::size_t largest_chunk = std::max(split.root, split.granules - split.last_chunk());
    return largest_chunk * granule_bytes - Layout::header_bytes_in_pool;
  }

  std::size_t largest_request_ = 0;
};

}  // namespace allocbench::circular
