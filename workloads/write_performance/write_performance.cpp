#include "workloads/write_performance/write_performance.hpp"

#include <stdexcept>

#include "workloads/prefix_sum/counted_pieces.hpp"
#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/contract/outcome.hpp"

namespace allocbench {
namespace {

constexpr std::uint32_t written_word_bytes = 4;
constexpr std::uint64_t most_written_words = 1ull << 30;

// All whole words of all blocks, block after block.
struct BlockWords {
  const std::uint32_t* owners;  // the caller in whose block each word is
  const std::uint32_t* first;   // the first word of each caller's block, and the number of words
  std::uint32_t count;

  SIMT_FN std::uint32_t* place(std::uint32_t word, void* const* blocks) const {
    const std::uint32_t owner = owners[word];
    auto* const block = static_cast<std::uint32_t*>(blocks[owner]);
    return block == nullptr ? nullptr : block + (word - first[owner]);
  }
};

struct WriteWordsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, BlockWords words, void* const* blocks, std::uint32_t value) const {
    const std::uint32_t word = thread.rank_in_grid();
    if (word >= words.count) return;
    std::uint32_t* const place = words.place(word, blocks);
    if (place != nullptr) *place = value + word;
  }
};

// Stores the owner of each word.
struct NumberWordsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const std::uint32_t* first, std::uint32_t callers,
                          std::uint32_t* owners) const {
    const std::uint32_t caller = thread.rank_in_grid();
    if (caller >= callers) return;
    for (std::uint32_t word = first[caller]; word < first[caller + 1]; ++word) owners[word] = caller;
  }
};

struct CompareWordsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, BlockWords words, void* const* blocks, std::uint32_t value,
                          std::uint32_t* wrong) const {
    const std::uint32_t word = thread.rank_in_grid();
    if (word >= words.count) return;
    const std::uint32_t* const place = words.place(word, blocks);
    if (place != nullptr && *place != value + word) thread.atomic(*wrong).fetch_add(1u, simt::relaxed);
  }
};

class WritePerformanceRun final : public WorkloadRun {
 public:
  WritePerformanceRun(const WritePerformance::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        threads_per_block_(parameters.threads_per_block),
        passes_(parameters.passes),
        requests_(stream, parameters.geometry(), parameters.request_sizes(parameters.threads, setting.seed)),
        pieces_(stream, parameters.geometry(), written_word_bytes),
        addresses_(parameters.threads),
        first_(std::size_t{parameters.threads} + 1),
        wrong_(2) {
    number_words();
  }

  void prepare() override {
    requests_.poison();
    pieces_.clear();
    wrong_.fill_bytes(stream_, 0);
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    requests_.alloc(allocator);
    write_and_compare("write", requests_.row(0), wrong_.data(), timer);
    requests_.free(allocator);
    pieces_.make_addresses(requests_.sizes().any(), PiecesFrom::device, addresses_.data());
    write_and_compare("baseline", addresses_.data(), wrong_.data() + 1, timer);
    stream_.synchronize();  // the pieces are in use until here
    pieces_.free();
  }

  void check_recorded(PointerCheck& check) const override {
    requests_.check(check);
    const std::vector<std::uint32_t> wrong = wrong_.to_host(stream_);
    if (!check.ok()) return;
    fail_if_wrong("contents", problem(wrong[0], "of the allocator's blocks"));
    fail_if_wrong("contents", problem(wrong[1], "of the packed pieces"));
  }
  RequestProfile requests() const override { return requests_.profile(); }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return requests_.callers(); }
  std::vector<KernelInfo> kernels() const override {
    return {{"write", simt::kernel_attributes<WriteWordsKernel, BlockWords, void* const*, std::uint32_t>()}};
  }

 private:
  void number_words() {
    const std::uint32_t callers = requests_.callers();
    std::vector<std::uint32_t> first(std::size_t{callers} + 1);
    for (std::uint32_t caller = 0; caller < callers; ++caller) {
      const std::uint64_t words = requests_.sizes().host()[caller] / written_word_bytes;
      first[caller + 1] = first[caller] + static_cast<std::uint32_t>(words);
    }
    first_.from_host(stream_, first);
    owners_ = simt::Buffer<std::uint32_t>(first.back());
    simt::launch(stream_, Geometry::of_callers(callers, threads_per_block_, simt::warp_size).shape(),
                 NumberWordsKernel{}, static_cast<const std::uint32_t*>(first_.data()), callers, owners_.data());
  }

  BlockWords words() const { return {owners_.data(), first_.data(), static_cast<std::uint32_t>(owners_.size())}; }

  void write_and_compare(std::string_view phase, void* const* blocks, std::uint32_t* wrong, PhaseTimer& timer) {
    const BlockWords all = words();
    const simt::LaunchShape shape = Geometry::of_callers(all.count, threads_per_block_, simt::warp_size).shape();
    timer.phase(phase, std::uint64_t{passes_} * all.count, [&] {
      for (std::uint32_t pass = 0; pass < passes_; ++pass) {
        simt::launch(stream_, shape, WriteWordsKernel{}, all, blocks, pass);
      }
    });
    simt::launch(stream_, shape, CompareWordsKernel{}, all, blocks, passes_ - 1, wrong);
  }

  static std::string problem(std::uint32_t wrong, const std::string& where) {
    return wrong == 0 ? ""
                      : std::to_string(wrong) + (wrong == 1 ? " word " : " words ") + where +
                            (wrong == 1 ? " does" : " do") + " not hold what was written last";
  }

  simt::Stream& stream_;
  std::uint32_t threads_per_block_;
  std::uint32_t passes_;
  CallerRequests requests_;
  CountedPieces pieces_;
  simt::Buffer<void*> addresses_;
  simt::Buffer<std::uint32_t> owners_;
  simt::Buffer<std::uint32_t> first_;
  simt::Buffer<std::uint32_t> wrong_;  // wrong words in the blocks and in the pieces
};

}  // namespace

std::string WritePerformance::unsupported(const Parameters& p, const RunSetting& setting) {
  if (p.smallest_request() < written_word_bytes) {
    throw std::invalid_argument("request sizes: threads write whole words, so a request has 4 B at least");
  }
  if (p.largest_request() / written_word_bytes * p.threads > most_written_words) {
    return "the blocks may have more than the " + std::to_string(most_written_words) +
           " words that this workload numbers";
  }
  const std::string recycled = why_recycling(pad(p.largest_request(), 16) * p.threads, setting);
  return recycled.empty() ? why_unsupported(p.geometry(), p.largest_request(), setting) : recycled;
}

std::unique_ptr<WorkloadRun> WritePerformance::open(const Parameters& parameters, const RunSetting& setting,
                                                    simt::Stream& stream) {
  return std::make_unique<WritePerformanceRun>(parameters, setting, stream);
}

}  // namespace allocbench
