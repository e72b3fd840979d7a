#include "workloads/strings/strings.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "workloads/strings/kernels.hpp"
#include "workloads/strings/text_check.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t most_lengths = 1ull << 27;

RequestSizes string_sizes(const Strings::Parameters& p, std::uint32_t strings, std::uint64_t seed) {
  return RequestSizes::log_normal(p.median_bytes, p.sigma, p.min_bytes, p.max_bytes, strings, seed);
}

class StringsRun final : public WorkloadRun {
 public:
  StringsRun(const Strings::Parameters& p, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        parameters_(p),
        seed_(setting.seed),
        geometry_(Geometry::of_callers(p.rows, p.threads_per_block, simt::warp_size)),
        host_lengths_(text::draw_lengths(p.rows, p.rounds, p.replaced_share,
                                         string_sizes(p, p.rows * (p.rounds + 1), seed_).array(), seed_)),
        host_final_(text::final_lengths(host_lengths_, p.rows)),
        lengths_(host_lengths_.size()),
        final_(p.rows),
        strings_(stream, p.rows),
        failures_(1) {
    requested_bytes_ = std::accumulate(host_lengths_.begin(), host_lengths_.end(), std::uint64_t{0});
    for (std::uint32_t round = 0; round <= p.rounds; ++round) {
      const auto first = host_lengths_.begin() + static_cast<std::ptrdiff_t>(round) * p.rows;
      written_.push_back(p.rows - static_cast<std::uint64_t>(std::count(first, first + p.rows, 0u)));
    }
    fail_if_unsupported(why_recycling(requested_bytes_ + 16 * mallocs_at_most(), setting));
    lengths_.from_host(stream, host_lengths_);
    final_.from_host(stream, host_final_);
    check_.emplace(stream, p.rows, lengths_.data());
  }

  void prepare() override {
    strings_.poison();
    failures_.fill_bytes(stream_, 0);
    check_->clear();
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    write(allocator, timer, "build", 0);
    for (std::uint32_t round = 1; round <= parameters_.rounds && failures() == 0; ++round) {
      write(allocator, timer, "replace", round);
    }
    timer.phase("free", parameters_.rows, [&] {
      allocator.launch<CallKernels>(stream_, geometry_.shape(), FreeKernel{}, geometry_, strings_.data());
    });
    timer.counter("mallocs", mallocs_at_most());
    timer.counter("frees", mallocs_at_most());
    timer.counter("requested_bytes", requested_bytes_);
  }

  void check_recorded(PointerCheck& check) const override {
    const auto bytes_of = [&](std::size_t row) { return std::uint64_t{host_final_[row]}; };
    if (const std::uint64_t failed = failures(); failed != 0) {
      // If a round failed, some rows keep strings of earlier rounds, whose lengths differ.
      std::vector<RecordedBlock> blocks = strings_.blocks(bytes_of);
      std::erase_if(blocks, [](const RecordedBlock& block) { return block.address != 0; });
      for (std::uint64_t more = blocks.size(); more < failed; ++more) blocks.push_back({0, 0, more});
      check.check(blocks, PointerCheck::Live::together);
    } else {
      strings_.check(check, {.array = final_.data()}, bytes_of, PointerCheck::Live::together);
    }
    if (check.ok()) fail_if_wrong("strings", check_->problem());
  }

  // Returns the requests that build the column.
  RequestProfile requests() const override { return {geometry_, string_sizes(parameters_, parameters_.rows, seed_)}; }
  std::uint64_t mallocs_at_most() const override {
    return std::accumulate(written_.begin(), written_.end(), std::uint64_t{0});
  }

  std::vector<KernelInfo> kernels() const override {
    std::vector<KernelInfo> infos;
    for (const char* phase : {"build", "replace"}) {
      infos.push_back(kernel_info<text::StringsKernels, text::StringsKernel, Geometry, const std::uint32_t*,
                                  std::uint32_t, void**, std::uint64_t*>(phase, type_));
    }
    infos.push_back(kernel_info<CallKernels, FreeKernel, Geometry, void**>("free", type_));
    return infos;
  }

 private:
  void write(const AllocatorHandle& allocator, PhaseTimer& timer, std::string_view phase, std::uint32_t round) {
    const std::uint32_t* const lengths = lengths_.data() + std::size_t{round} * parameters_.rows;
    timer.phase(phase, round == 0 ? written_[round] : 2 * written_[round], [&] {
      allocator.launch<text::StringsKernels>(stream_, geometry_.shape(), text::StringsKernel{}, geometry_, lengths,
                                             round, strings_.data(), failures_.data());
    });
    if (failures() == 0) check_->compare(strings_.data(), round);
  }

  std::uint64_t failures() const { return failures_.to_host(stream_).front(); }

  simt::Stream& stream_;
  const AllocatorType& type_;
  Strings::Parameters parameters_;
  std::uint64_t seed_;
  Geometry geometry_;
  text::Lengths host_lengths_;
  text::Lengths host_final_;  // length of each row's string after the last round
  std::uint64_t requested_bytes_ = 0;
  std::vector<std::uint64_t> written_;  // strings written in each round
  simt::Buffer<std::uint32_t> lengths_;
  simt::Buffer<std::uint32_t> final_;
  RecordedPointers strings_;
  simt::Buffer<std::uint64_t> failures_;
  std::optional<text::TextCheck> check_;
};

}  // namespace

std::string Strings::unsupported(const Parameters& p, const RunSetting& setting) {
  if (p.min_bytes > p.max_bytes) {
    throw std::invalid_argument("min_bytes " + std::to_string(p.min_bytes) + " exceeds max_bytes " +
                                std::to_string(p.max_bytes));
  }
  if (setting.traits().frees == Frees::in_bulk) {
    return setting.display_name() + " frees all blocks of a session at once; rows are replaced one at a time";
  }
  const std::uint64_t strings = std::uint64_t{p.rows} * (p.rounds + 1);
  if (strings > most_lengths) {
    return "rows times rounds is " + std::to_string(strings) + "; this workload keeps at most " +
           std::to_string(most_lengths) + " lengths";
  }
  // Rows that keep their strings make no calls. So designs that need whole-warp calls are unsupported.
  return why_unsupported(Geometry::of_callers(p.rows, p.threads_per_block, 1), p.max_bytes, setting);
}

std::unique_ptr<WorkloadRun> Strings::open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream) {
  return std::make_unique<StringsRun>(parameters, setting, stream);
}

}  // namespace allocbench
