// This file names the stages of the work on a cell (harness/README.md lists them). Each change of stage is reported, so
// that the report of a timeout can name the stage in which it happened. This header contains no device code.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace allocbench {

// The stages of a repetition come first, then those of a verification.
enum class Stage { prepare, fill, timed, drain, judge, contents, leaks, resets, trace };
inline constexpr std::array<std::string_view, 9> stage_words = {"prepare",  "fill",  "timed",  "drain", "judge",
                                                                "contents", "leaks", "resets", "trace"};
constexpr std::string_view word(Stage stage) { return stage_words[static_cast<std::size_t>(stage)]; }

using StageListener = std::function<void(Stage)>;  // empty: stages are not reported

// Stages keeps the current stage and reports each change. A phase that follows another phase is not a change.
class Stages {
 public:
  explicit Stages(StageListener listener) : listener_(std::move(listener)) {}

  void begin(Stage stage) {
    if (!listener_ || now_ == stage) return;
    now_ = stage;
    listener_(stage);
  }

 private:
  StageListener listener_;
  std::optional<Stage> now_;
};

}  // namespace allocbench
