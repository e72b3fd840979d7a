#include "workloads/particle_frames/particle_frames.hpp"

#include <cmath>
#include <stdexcept>

#include "workloads/particle_frames/cell_reader.hpp"
#include "workloads/particle_frames/course.hpp"
#include "workloads/particle_frames/kernels.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/inputs/kept_input.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t most_particles_kept = 1ull << 26;

std::uint32_t particles_of_frame(const ParticleFrames::Parameters& p) {
  return static_cast<std::uint32_t>((p.frame_bytes - sizeof(particles::Frame)) / sizeof(particles::Particle));
}

std::uint32_t moving_share_of(const ParticleFrames::Parameters& p) {
  return static_cast<std::uint32_t>(std::lround(p.moving_share * 0x1p24));
}

std::shared_ptr<const particles::Course> course_of(const ParticleFrames::Parameters& p, std::uint64_t seed) {
  const particles::Space space{p.width, moving_share_of(p)};
  const std::uint32_t count = p.cells() * p.particles_per_cell;
  const std::uint32_t capacity = particles_of_frame(p);
  return kept_input<particles::Course>(
      stored_key("particles", {p.width, moving_share_of(p), count, p.steps, capacity, seed}),
      [&] { return work_out(space, count, p.steps, capacity, seed); });
}

class ParticleFramesRun final : public WorkloadRun {
  using Arrivals = particles::Arrivals;
  using Cell = particles::Cell;
  using Cells = particles::Cells;
  using GrowCellsKernel = particles::GrowCellsKernel;
  using Particle = particles::Particle;
  using ParticleKernels = particles::ParticleKernels;
  using ShrinkCellsKernel = particles::ShrinkCellsKernel;
  using Space = particles::Space;

 public:
  ParticleFramesRun(const ParticleFrames::Parameters& p, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        parameters_(p),
        space_{p.width, moving_share_of(p)},
        kept_course_(course_of(p, setting.seed)),
        course_(*kept_course_),
        cells_(p.cells()),
        start_(course_.start.size()),
        moving_(course_.most_arrivals()),
        begin_((p.steps + 1) * (std::size_t{p.cells()} + 1)),
        arrived_(p.cells()),
        failures_(1),
        reader_(stream, course_, particles_of_frame(p)) {
    fail_if_unsupported(why_recycling(course_.mallocs() * pad(p.frame_bytes, 16), setting));
    start_.from_host(stream, course_.start);
    std::vector<std::uint32_t> begin;
    for (const std::vector<std::uint32_t>& row : course_.begin) begin.insert(begin.end(), row.begin(), row.end());
    begin_.from_host(stream, begin);
  }

  void prepare() override {
    cells_.fill_bytes(stream_, 0);
    failures_.fill_bytes(stream_, 0);
    reader_.clear();
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    turn_ = 0;
    timer.phase("fill", course_.allocated[0], [&] { grow(allocator, {start_.data(), begin_.data()}); });
    for (std::uint32_t step = 0; step < parameters_.steps && failures() == 0; ++step) {
      const Arrivals arrivals{moving_.data(), begin_.data() + (step + 1) * (std::size_t{parameters_.cells()} + 1)};
      arrived_.fill_bytes(stream_, 0);
      timer.phase("depart", course_.freed[step], [&] { shrink(allocator, arrivals, step, false); });
      timer.phase("arrive", course_.allocated[step + 1], [&] { grow(allocator, arrivals); });
    }
    if (failures() == 0) reader_.read(cells_.data());
    timer.phase("free", course_.frames_at_the_end(), [&] { shrink(allocator, {nullptr, begin_.data()}, 0, true); });
    timer.counter("mallocs", course_.mallocs());
    timer.counter("frees", course_.mallocs());
    timer.counter("requested_bytes", course_.mallocs() * parameters_.frame_bytes);
  }

  void check_recorded(PointerCheck& check) const override {
    std::vector<RecordedBlock> blocks = reader_.blocks(parameters_.frame_bytes);
    const std::uint64_t failed = failures();
    for (std::uint64_t i = 0; i < failed; ++i) blocks.push_back({0, parameters_.frame_bytes, blocks.size()});
    check.check(blocks, PointerCheck::Live::together);
    if (check.ok() && failed == 0) fail_if_wrong("cells", reader_.problem());
  }

  // Returns the requests for the frames of the start. One lane per warp makes them.
  RequestProfile requests() const override {
    return {Geometry::of_callers(static_cast<std::uint32_t>(course_.allocated[0]), parameters_.threads_per_block, 1),
            RequestSizes::fixed(parameters_.frame_bytes)};
  }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return course_.mallocs(); }

  std::vector<KernelInfo> kernels() const override {
    const auto grows = [&](const char* phase) {
      return kernel_info<ParticleKernels, GrowCellsKernel, Cells, std::uint32_t, Arrivals, std::uint64_t*>(phase,
                                                                                                           type_);
    };
    const auto shrinks = [&](const char* phase) {
      return kernel_info<ParticleKernels, ShrinkCellsKernel, Cells, std::uint32_t, bool, Arrivals, std::uint32_t*>(
          phase, type_);
    };
    return {grows("fill"), shrinks("depart"), grows("arrive"), shrinks("free")};
  }

 private:
  Cells cells() const { return {cells_.data(), space_, particles_of_frame(parameters_), turn_}; }
  simt::LaunchShape shape() const {
    return Geometry::of_callers(parameters_.cells() * simt::warp_size, parameters_.threads_per_block, simt::warp_size)
        .shape();
  }
  // Every launch assigns the cells to other warps.
  void pass_on() { turn_ = (turn_ + parameters_.width / 2 + 1) % parameters_.cells(); }

  void grow(const AllocatorHandle& allocator, const Arrivals& arrivals) {
    allocator.launch<ParticleKernels>(stream_, shape(), GrowCellsKernel{}, cells(), parameters_.frame_bytes, arrivals,
                                      failures_.data());
    pass_on();
  }
  void shrink(const AllocatorHandle& allocator, const Arrivals& arrivals, std::uint32_t step, bool all) {
    allocator.launch<ParticleKernels>(stream_, shape(), ShrinkCellsKernel{}, cells(), step, all, arrivals,
                                      arrived_.data());
    pass_on();
  }

  std::uint64_t failures() const { return failures_.to_host(stream_).front(); }

  simt::Stream& stream_;
  const AllocatorType& type_;
  ParticleFrames::Parameters parameters_;
  Space space_;
  std::shared_ptr<const particles::Course> kept_course_;
  const particles::Course& course_;
  std::uint32_t turn_ = 0;
  simt::Buffer<Cell> cells_;
  simt::Buffer<Particle> start_;
  simt::Buffer<Particle> moving_;
  simt::Buffer<std::uint32_t> begin_;
  simt::Buffer<std::uint32_t> arrived_;
  simt::Buffer<std::uint64_t> failures_;
  particles::CellReader reader_;
};

}  // namespace

std::string ParticleFrames::unsupported(const Parameters& p, const RunSetting& setting) {
  if (p.threads_per_block % simt::warp_size != 0) {
    throw std::invalid_argument("threads_per_block: one warp serves one cell, so blocks must be whole warps");
  }
  if (setting.traits().frees == Frees::in_bulk) {
    return setting.display_name() + " frees all blocks of a session at once; cells free one frame at a time";
  }
  const std::uint64_t particles = std::uint64_t{p.cells()} * p.particles_per_cell;
  if (particles > most_particles_kept) {
    return std::to_string(particles) + " particles; this workload keeps at most " + std::to_string(most_particles_kept);
  }
  return why_unsupported(Geometry::of_callers(p.cells(), p.threads_per_block, 1), p.frame_bytes, setting);
}

std::unique_ptr<WorkloadRun> ParticleFrames::open(const Parameters& parameters, const RunSetting& setting,
                                                  simt::Stream& stream) {
  return std::make_unique<ParticleFramesRun>(parameters, setting, stream);
}

}  // namespace allocbench
