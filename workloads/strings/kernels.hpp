// This file has the kernel of strings. The kernel gives rows new strings and frees their old ones.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/random/mix.hpp"
#include "workloads/support/requests/geometry.hpp"

namespace allocbench::text {

// Returns four bytes of the text that a row gets in a round.
SIMT_HOST_FN std::uint32_t text_word(std::uint32_t row, std::uint32_t round, std::uint32_t word) {
  return mix32(mix32(row * 0x9e3779b9u + round) + word) & 0x7f7f7f7fu;
}

// Calls visit(place, byte) for the last bytes of a text, which do not fill a word.
template <class Visit>
SIMT_FN void visit_tail(std::uint32_t row, std::uint32_t round, std::uint32_t bytes, Visit&& visit) {
  const std::uint32_t last = text_word(row, round, bytes / 4);
  for (std::uint32_t byte = 0; byte < bytes % 4; ++byte) {
    visit(bytes / 4 * 4 + byte, static_cast<unsigned char>(last >> (8 * byte)));
  }
}

SIMT_FN void write_text(void* text, std::uint32_t row, std::uint32_t round, std::uint32_t bytes) {
  auto* const words = static_cast<std::uint32_t*>(text);
  for (std::uint32_t word = 0; word < bytes / 4; ++word) words[word] = text_word(row, round, word);
  auto* const chars = static_cast<unsigned char*>(text);
  visit_tail(row, round, bytes, [&](std::uint32_t place, unsigned char byte) { chars[place] = byte; });
}

struct StringsKernel {
  // `bytes` has the length of each row's new string, or 0 if the row keeps its string. Round 0 builds the column.
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, const std::uint32_t* bytes,
                          std::uint32_t round, void** strings, std::uint64_t* failures) const {
    const std::uint32_t row = geometry.caller(thread);
    if (row == Geometry::no_caller) return;
    const std::uint32_t length = bytes[row];
    if (length == 0) return;
    auto&& session = attach(allocator, thread);
    void* const text = session.malloc(thread, length);
    if (text == nullptr) {
      thread.atomic(*failures).fetch_add(std::uint64_t{1}, simt::relaxed);
      if (round == 0) strings[row] = nullptr;
    } else {
      write_text(text, row, round, length);
      if (round != 0) session.free(thread, strings[row]);
      strings[row] = text;
    }
    detach(session, thread);
  }
};

using StringsKernels =
    KernelList<BareKernelOn<StringsKernel, Geometry, const std::uint32_t*, std::uint32_t, void**, std::uint64_t*>>;

}  // namespace allocbench::text
