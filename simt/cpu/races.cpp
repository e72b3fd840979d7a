// These functions take the reports of ThreadSanitizer before they are printed. This file is compiled only into
// simt_cpu_races.
//
// ThreadSanitizer reports in the middle of an access, with its own locks held. So the hook only copies addresses into a
// static array, and take_race_reports() looks up functions and lines later.
#include "simt/cpu/races.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "simt/cpu/lane_order.hpp"

// No public header declares these functions of the debugger interface.
extern "C" {
int __tsan_get_report_data(void* report, const char** description, int* count, int* stacks, int* accesses,
                           int* locations, int* mutexes, int* threads, int* unique_tids, void** sleep_trace,
                           std::size_t trace_size);
int __tsan_get_report_mop(void* report, std::size_t index, int* tid, void** address, int* bytes, int* write,
                          int* atomic, void** trace, std::size_t trace_size);
int __tsan_get_report_thread(void* report, std::size_t index, int* tid, std::uint64_t* os_id, int* running,
                             const char** name, int* parent_tid, void** trace, std::size_t trace_size);
void __sanitizer_symbolize_pc(void* pc, const char* format, char* text, std::size_t text_bytes);
const char* __tsan_default_options();
}

// Every launch must report every race, so equal reports are not suppressed. The history must include the earlier
// access, so it has 2^(15 + 4) events per lane, which take 4 MiB. A signal ends the process as it would without
// ThreadSanitizer, so that the parent process can detect a crash.
const char* __tsan_default_options() {
  return "exitcode=0:suppress_equal_stacks=0:suppress_equal_addresses=0:history_size=4:detect_deadlocks=0:"
         "report_thread_leaks=0:report_signal_unsafe=0:atexit_sleep_ms=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:"
         "handle_sigill=0:handle_abort=0";
}

namespace __tsan {
class ReportDesc;
bool OnReport(const ReportDesc* report, bool suppressed);
}  // namespace __tsan

namespace simt {
namespace {

constexpr std::size_t max_races = 64;
constexpr std::size_t max_frames = 24;
constexpr int max_accesses = 2;

struct RawAccess {
  char thread[64];
  void* address;
  int bytes;
  int write;
  int atomic;
  std::array<void*, max_frames> trace;  // return addresses of the stack, with null at the end

  void* innermost() const { return trace[0]; }
};

struct RawRace {
  char kind[32];
  int access_count;
  RawAccess accesses[max_accesses];
  std::uint64_t times;

  bool same_places(const RawRace& other) const {
    return access_count == other.access_count &&
           std::equal(accesses, accesses + access_count, other.accesses,
                      [](const RawAccess& a, const RawAccess& b) { return a.innermost() == b.innermost(); });
  }
};

// Kept needs no lock, because the deterministic mode has one OS thread.
struct Kept {
  std::array<RawRace, max_races> races;
  std::size_t count = 0;
  std::uint64_t reports = 0;
  std::uint64_t not_kept = 0;
};
Kept kept;

void copy_text(char* to, std::size_t bytes, const char* from) {
  std::strncpy(to, from, bytes - 1);
  to[bytes - 1] = '\0';
}

void name_thread(void* report, int thread_count, int tid, RawAccess& access) {
  copy_text(access.thread, sizeof access.thread, "host");
  for (int i = 0; i < thread_count; ++i) {
    int found = 0;
    std::uint64_t os_id = 0;
    int running = 0;
    int parent = 0;
    const char* name = nullptr;
    void* trace = nullptr;
    __tsan_get_report_thread(report, static_cast<std::size_t>(i), &found, &os_id, &running, &name, &parent, &trace, 1);
    if (found == tid && tid != 0 && name != nullptr) copy_text(access.thread, sizeof access.thread, name);
  }
}

void keep(void* report) {
  ++kept.reports;
  if (kept.count == max_races) {
    ++kept.not_kept;
    lane_order::lane_repeats_itself();
    return;
  }
  RawRace& race = kept.races[kept.count];
  race = {};
  const char* kind = nullptr;
  int counts[7] = {};
  void* sleep_trace = nullptr;
  __tsan_get_report_data(report, &kind, &counts[0], &counts[1], &counts[2], &counts[3], &counts[4], &counts[5],
                         &counts[6], &sleep_trace, 1);
  copy_text(race.kind, sizeof race.kind, kind);
  race.access_count = std::min(counts[2], max_accesses);
  for (int i = 0; i < race.access_count; ++i) {
    RawAccess& access = race.accesses[i];
    int tid = 0;
    __tsan_get_report_mop(report, static_cast<std::size_t>(i), &tid, &access.address, &access.bytes, &access.write,
                          &access.atomic, access.trace.data(), max_frames);
    name_thread(report, counts[5], tid, access);
  }
  race.times = 1;
  RawRace* const end = kept.races.data() + kept.count;
  RawRace* const known = std::find_if(kept.races.data(), end, [&](const RawRace& r) { return r.same_places(race); });
  if (known != end) {
    ++known->times;
    lane_order::lane_repeats_itself();
  } else {
    ++kept.count;
  }
}

// Appends the frames of one address. The symbolizer puts the innermost first and ends each with a zero byte.
void append_frames(void* pc, std::vector<RaceFrame>& frames) {
  std::array<char, 4096> text{};
  __sanitizer_symbolize_pc(pc, "%f\t%s\t%l", text.data(), text.size() - 1);
  for (const char* at = text.data(); *at != '\0'; at += std::strlen(at) + 1) {
    const std::string_view frame(at);
    const std::size_t file = frame.find('\t') + 1;
    const std::size_t line = frame.find('\t', file) + 1;
    if (file == 0 || line == 0) continue;
    frames.push_back({std::string(frame.substr(0, file - 1)), std::string(frame.substr(file, line - 1 - file)),
                      static_cast<std::uint32_t>(std::strtoul(at + line, nullptr, 10))});
  }
}

std::vector<RaceFrame> frames_of(const RawAccess& access) {
  std::vector<RaceFrame> frames;
  void* last = nullptr;
  for (void* pc : access.trace) {
    if (pc == nullptr) break;
    // ThreadSanitizer repeats an address for each function that is inlined at it.
    if (pc != last) append_frames(pc, frames);
    last = pc;
  }
  // kernel_entry() calls the kernel. The frame of kernel_entry() and the frames below it belong to the executor.
  const auto launch = std::find_if(frames.begin(), frames.end(), [](const RaceFrame& frame) {
    return std::string_view(frame.file).ends_with("simt/cpu/kernel_entry.hpp");
  });
  frames.erase(launch, frames.end());
  return frames;
}

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return text.ends_with(ending); });
}

bool is_device_code(const RaceFrame& frame) {
  const std::string_view file = frame.file;
  return !file.empty() && file.find("/include/c++/") == file.npos && file.find("libsanitizer") == file.npos &&
         !ends_with_any(file,
                        {"simt/cpu/atomic.hpp", "simt/cpu/group.hpp", "simt/cpu/lane.hpp", "simt/cpu/thread.hpp"});
}

std::string place_text(const RaceFrame& frame) {
  return frame.file.substr(frame.file.rfind('/') + 1) + ":" + std::to_string(frame.line);
}

std::string access_text(const RaceAccess& access) {
  return std::string(access.atomic ? "atomic " : "") + (access.write ? "write" : "read") + " at " + access.place() +
         " (" + access.thread + ")";
}

}  // namespace

std::string RaceAccess::place() const {
  const auto frame = std::find_if(stack.begin(), stack.end(), is_device_code);
  return frame == stack.end() ? "unknown place" : place_text(*frame);
}

std::string Race::text() const {
  std::string text = kind;
  if (!accesses.empty()) {
    char where[64];
    std::snprintf(where, sizeof where, " on %" PRIu32 " bytes at 0x%" PRIxPTR ": ", accesses[0].bytes,
                  accesses[0].address);
    text += where + access_text(accesses[0]);
  }
  if (accesses.size() == 2) text += ", earlier " + access_text(accesses[1]);
  if (times != 1) text += ", " + std::to_string(times) + " times";
  text += "\n";
  for (const RaceAccess& access : accesses) {
    text += "  " + access.thread + ":\n";
    for (const RaceFrame& frame : access.stack) text += "    " + place_text(frame) + "  " + frame.function + "\n";
  }
  return text;
}

std::string RaceReport::text() const {
  std::string text;
  for (const Race& race : races) text += race.text();
  if (not_kept != 0) text += std::to_string(not_kept) + " more reports\n";
  return text;
}

RaceReport take_race_reports() {
  RaceReport report;
  report.reports = kept.reports;
  report.not_kept = kept.not_kept;
  for (std::size_t i = 0; i < kept.count; ++i) {
    const RawRace& raw = kept.races[i];
    Race race{raw.kind, {}, raw.times};
    for (int a = 0; a < raw.access_count; ++a) {
      const RawAccess& access = raw.accesses[a];
      race.accesses.push_back({access.thread, access.write != 0, access.atomic != 0,
                               reinterpret_cast<std::uintptr_t>(access.address),
                               static_cast<std::uint32_t>(access.bytes), frames_of(access)});
    }
    report.races.push_back(std::move(race));
  }
  kept.count = 0;
  kept.reports = kept.not_kept = 0;
  return report;
}

}  // namespace simt

// ThreadSanitizer calls this hook, which is weak in its library. Because the hook returns true, the report is not
// printed and does not count.
bool __tsan::OnReport(const ReportDesc* report, bool suppressed) {
  if (!suppressed) simt::keep(const_cast<void*>(static_cast<const void*>(report)));
  return true;
}
