#include "workloads/strings/text_check.hpp"

#include "workloads/strings/kernels.hpp"
#include "workloads/support/parallel/parallel_for.hpp"
#include "workloads/support/random/random.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench::text {
namespace {

// Counts wrong strings. The second finding is the complement of the lowest wrong row.
struct CompareTextsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t rows, const std::uint32_t* lengths, std::uint32_t round,
                          void* const* strings, std::uint32_t* findings) const {
    const std::uint32_t row = thread.rank_in_grid();
    if (row >= rows || !is_block(strings[row])) return;
    std::uint32_t written = round;
    while (written != 0 && lengths[std::uint64_t{written} * rows + row] == 0) --written;
    if (same(strings[row], row, written, lengths[std::uint64_t{written} * rows + row])) return;
    thread.atomic(findings[0]).fetch_add(1u, simt::relaxed);
    thread.atomic(findings[1]).fetch_max(~row, simt::relaxed);
  }

 private:
  static SIMT_FN bool same(const void* text, std::uint32_t row, std::uint32_t round, std::uint32_t bytes) {
    const auto* const words = static_cast<const std::uint32_t*>(text);
    for (std::uint32_t word = 0; word < bytes / 4; ++word) {
      if (words[word] != text_word(row, round, word)) return false;
    }
    const auto* const chars = static_cast<const unsigned char*>(text);
    bool right = true;
    visit_tail(row, round, bytes,
               [&](std::uint32_t place, unsigned char byte) { right = right && chars[place] == byte; });
    return right;
  }
};

}  // namespace

Lengths draw_lengths(std::uint32_t rows, std::uint32_t rounds, double replaced_share, const Lengths& drawn,
                     std::uint64_t seed) {
  Lengths lengths = drawn;
  parallel_for(std::size_t{rounds} * rows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t place = begin + rows; place < end + rows; ++place) {
      const auto round = static_cast<std::uint32_t>(place / rows);
      const RandomWords random = random_words(seed, RandomStream::string_rows, place % rows, round);
      if (unit_interval(random.words[0]) >= replaced_share) lengths[place] = 0;
    }
  });
  return lengths;
}

Lengths final_lengths(const Lengths& lengths, std::uint32_t rows) {
  Lengths last(lengths.begin(), lengths.begin() + rows);
  for (std::size_t i = rows; i < lengths.size(); ++i) {
    if (lengths[i] != 0) last[i % rows] = lengths[i];
  }
  return last;
}

void TextCheck::clear() { findings_.fill_bytes(stream_, 0); }

void TextCheck::compare(void* const* strings, std::uint32_t round) {
  constexpr std::uint32_t threads = 128;
  simt::launch(stream_, {.blocks = (rows_ + threads - 1) / threads, .threads_per_block = threads}, CompareTextsKernel{},
               rows_, lengths_, round, strings, findings_.data());
}

std::string TextCheck::problem() const {
  const std::vector<std::uint32_t> findings = findings_.to_host(stream_);
  if (findings[0] == 0) return {};
  return std::to_string(findings[0]) + " comparisons found another text than was written; first row " +
         std::to_string(~findings[1]);
}

}  // namespace allocbench::text
