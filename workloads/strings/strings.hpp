// In strings, a column with one short string per row is built, changed in part, and dropped.
//
// Data frames on GPUs have such columns of text. Every row's thread allocates a string of log-normal length, by default
// 8 to 512 bytes. Then, `rounds` times, a share of the rows gets a new string of a new random length: the thread
// allocates and writes the new string, and frees the old one. So blocks of many sizes are freed between live strings.
// At the end all strings are freed. The host knows each row's text after every round, and an untimed kernel compares
// all texts byte by byte. If malloc returns null, the old string stays in place, and no further round runs.
#pragma once

#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct Strings {
  struct Parameters {
    std::uint32_t rows = 1 << 20;
    std::uint32_t threads_per_block = 256;
    std::uint32_t median_bytes = 40;
    double sigma = 0.8;
    std::uint32_t min_bytes = 8;
    std::uint32_t max_bytes = 512;
    std::uint32_t rounds = 8;
    double replaced_share = 0.25;

    static auto fields() {
      using P = Parameters;
      return std::tuple{
          Field{"rows", &P::rows, "rows", "strings of the column, a thread each", "assumed"}.between(1, 1 << 24),
          Field{"threads_per_block", &P::threads_per_block, "threads", "threads of a block", "assumed"}.between(
              1, most_threads_per_block),
          Field{"median_bytes", &P::median_bytes, "B", "median length of a string", "assumed"}.between(1, 1 << 20),
          Field{"sigma", &P::sigma, "", "standard deviation of the logarithm of the length", "assumed"}.between(0, 4),
          Field{"min_bytes", &P::min_bytes, "B", "shortest string", "assumed"}.between(1, 1 << 20),
          Field{"max_bytes", &P::max_bytes, "B", "longest string", "assumed"}.between(1, 1 << 20),
          Field{"rounds", &P::rounds, "rounds", "times that a share of the strings is replaced", "assumed"}.between(
              0, 100),
          Field{"replaced_share", &P::replaced_share, "", "share of the rows that get a new string in a round",
                "assumed"}
              .between(0, 1)};
    }
  };

  static constexpr WorkloadTraits traits{.name = "strings",
                                         .display_name = "Column of Strings",
                                         .paper = "none: what data frames do with columns of text",
                                         .summary = "one short string per row is built, replaced in part, and freed",
                                         .phases = "build replace free",
                                         .writes_blocks = true,
                                         .application = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
