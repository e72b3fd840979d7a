// Saboteurs are allocators that fail on purpose, each in one way, so that tests can show that the harness survives
// them.
//
// Each one is a bump allocator with one planted fault. Its free does nothing, except in `free_null`. In a config, "all"
// does not include saboteurs, and lists show them only on request (trait test_only).
//   hang      every 64th malloc waits for a word that no thread writes
//   trap      every 64th malloc ends the launch with a device fault
//   segfault  every 64th malloc writes to address 16
//   null      every 64th malloc returns null even if the pool has room
//   overlap   every 64th block starts inside the block before it
//   stale     every 64th malloc returns the first block of the pool again, even if another thread holds it
//   misalign  every 64th block starts 8 bytes late
//   leak      free returns no memory, although the traits say that it does
//   reset     reset() does not make used memory free again, so the pool stays used up
//   free_null free(null) frees the whole pool, even if threads hold blocks
#pragma once

#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench::saboteur {

enum class Fault { hang, trap, segfault, null, overlap, stale, misalign, leak, reset, free_null };

template <Fault fault>
class Bump {
 public:
  using Parameters = NoParameters;

  void reset(simt::Stream& stream) {
    constexpr std::size_t forgotten = fault == Fault::reset ? sizeof(std::uint64_t) : 0;
    simt::device_fill(stream, reinterpret_cast<std::byte*>(words_) + forgotten, 0, sizeof *words_ - forgotten);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (RequestLimit{pool_.bytes}.refuses(bytes)) return nullptr;
    const bool strike = thread.atomic(words_->calls).fetch_add(1u, simt::relaxed) % 64 == 63;
    if constexpr (fault == Fault::hang) {
      if (strike) {
        while (thread.atomic(words_->never_written).load(simt::relaxed) == 0) thread.spin_hint();
      }
    }
    if constexpr (fault == Fault::trap) {
      if (strike) thread.trap();
    }
    if constexpr (fault == Fault::segfault) {
      // The address is loaded from memory, so that the compiler cannot prove the store invalid and remove it.
      if (strike) *reinterpret_cast<volatile std::uint32_t*>(words_->zero + 16) = 1;
    }
    if constexpr (fault == Fault::null) {
      if (strike) return nullptr;
    }
    if constexpr (fault == Fault::stale) {
      if (strike) return pool_.base;
    }
    // A block of `misalign` has room for its shift, so it overlaps no other block, and only its alignment is wrong.
    constexpr std::uint64_t room = fault == Fault::misalign ? 16 : 0;
    const std::uint64_t need = units_of(std::uint64_t{bytes}, 4) * 16 + room;
    std::uint64_t offset = thread.atomic(words_->next).fetch_add(need, simt::relaxed);
    if (offset + need > pool_.bytes) return nullptr;
    if constexpr (fault == Fault::overlap) {
      if (strike && offset >= 16) offset -= 16;
    }
    if constexpr (fault == Fault::misalign) {
      if (strike) offset += 8;
    }
    return pool_.base + offset;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (fault == Fault::free_null && block == nullptr)
      thread.atomic(words_->next).store(std::uint64_t{0}, simt::relaxed);
  }

 protected:
  template <class Derived>
  static Derived lay_out(Arena& arena) {
    Derived allocator;
    allocator.pool_ = arena.pool();
    allocator.words_ = arena.metadata<Words>(1);
    return allocator;
  }

 private:
  struct Words {
    std::uint64_t next;
    std::uint64_t zero;
    std::uint32_t calls;
    std::uint32_t never_written;
  };

  Pool pool_;
  Words* words_ = nullptr;
};

// Returns the traits of a saboteur. `frees` need not be true: no saboteur takes a single block back.
constexpr Traits traits_of(std::string_view name, std::string_view display_name, std::string_view summary,
                           Frees frees = Frees::never) {
  return {.name = name,
          .display_name = display_name,
          .paper = "none: a test of the harness",
          .summary = summary,
          .form = Form::own,
          .frees = frees,
          .test_only = true};
}

}  // namespace allocbench::saboteur

namespace allocbench {

struct SaboteurHang : saboteur::Bump<saboteur::Fault::hang> {
  static constexpr Traits traits =
      saboteur::traits_of("saboteur_hang", "saboteur: hang", "every 64th malloc waits forever");
  static SaboteurHang create(Arena& arena, const Parameters&) { return lay_out<SaboteurHang>(arena); }
};
struct SaboteurTrap : saboteur::Bump<saboteur::Fault::trap> {
  static constexpr Traits traits = saboteur::traits_of("saboteur_trap", "saboteur: trap", "every 64th malloc traps");
  static SaboteurTrap create(Arena& arena, const Parameters&) { return lay_out<SaboteurTrap>(arena); }
};
struct SaboteurSegfault : saboteur::Bump<saboteur::Fault::segfault> {
  static constexpr Traits traits = saboteur::traits_of("saboteur_segfault", "saboteur: segfault",
                                                       "every 64th malloc writes to an address that is not mapped");
  static SaboteurSegfault create(Arena& arena, const Parameters&) { return lay_out<SaboteurSegfault>(arena); }
};
struct SaboteurNull : saboteur::Bump<saboteur::Fault::null> {
  static constexpr Traits traits =
      saboteur::traits_of("saboteur_null", "saboteur: null", "every 64th malloc returns null with memory left");
  static SaboteurNull create(Arena& arena, const Parameters&) { return lay_out<SaboteurNull>(arena); }
};
struct SaboteurOverlap : saboteur::Bump<saboteur::Fault::overlap> {
  static constexpr Traits traits =
      saboteur::traits_of("saboteur_overlap", "saboteur: overlap", "every 64th block starts inside its predecessor");
  static SaboteurOverlap create(Arena& arena, const Parameters&) { return lay_out<SaboteurOverlap>(arena); }
};
struct SaboteurStale : saboteur::Bump<saboteur::Fault::stale> {
  static constexpr Traits traits =
      saboteur::traits_of("saboteur_stale", "saboteur: stale", "every 64th malloc hands out the first block again");
  static SaboteurStale create(Arena& arena, const Parameters&) { return lay_out<SaboteurStale>(arena); }
};
struct SaboteurMisalign : saboteur::Bump<saboteur::Fault::misalign> {
  static constexpr Traits traits =
      saboteur::traits_of("saboteur_misalign", "saboteur: misalign", "every 64th block is 8 bytes off its alignment");
  static SaboteurMisalign create(Arena& arena, const Parameters&) { return lay_out<SaboteurMisalign>(arena); }
};
struct SaboteurLeak : saboteur::Bump<saboteur::Fault::leak> {
  static constexpr Traits traits = saboteur::traits_of(
      "saboteur_leak", "saboteur: leak", "free gives nothing back, against its own traits", Frees::individually);
  static SaboteurLeak create(Arena& arena, const Parameters&) { return lay_out<SaboteurLeak>(arena); }
};

struct SaboteurReset : saboteur::Bump<saboteur::Fault::reset> {
  static constexpr Traits traits = saboteur::traits_of("saboteur_reset", "saboteur: reset",
                                                       "reset() forgets where the free part of the pool begins");
  static SaboteurReset create(Arena& arena, const Parameters&) { return lay_out<SaboteurReset>(arena); }
};
struct SaboteurFreeNull : saboteur::Bump<saboteur::Fault::free_null> {
  static constexpr Traits traits =
      saboteur::traits_of("saboteur_free_null", "saboteur: free(null)", "free(null) gives the whole pool back");
  static SaboteurFreeNull create(Arena& arena, const Parameters&) { return lay_out<SaboteurFreeNull>(arena); }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(saboteur, SaboteurHang, SaboteurTrap, SaboteurSegfault, SaboteurNull, SaboteurOverlap,
                    SaboteurStale, SaboteurMisalign, SaboteurLeak, SaboteurReset, SaboteurFreeNull)
