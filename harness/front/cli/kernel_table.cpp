#include "harness/front/cli/kernel_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/tokenizer.hpp>
#include <charconv>
#include <map>
#include <regex>
#include <sstream>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/common/units.hpp"

namespace allocbench::front {
namespace {

using Row = std::vector<std::string>;

constexpr const char* time_metric = "gpu__time_duration.sum";
constexpr const char* register_metric = "launch__registers_per_thread";
constexpr const char* occupancy_metric = "sm__warps_active.avg.pct_of_peak_sustained_active";
// Together, the next two metrics correspond to nvprof's l2_atomic_transactions (CUPTI documentation, metrics table).
constexpr const char* atomic_metric = "lts__t_sectors_op_atom.sum";
constexpr const char* reduction_metric = "lts__t_sectors_op_red.sum";

Row cells_of(const std::string& line) {
  using Separator = boost::escaped_list_separator<char>;
  const boost::tokenizer<Separator> cells(line, Separator('\\', ',', '"'));
  return {cells.begin(), cells.end()};
}

// Reads a number. It may have separators between thousands.
std::optional<double> number_in(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// The kernel that holds the stream back until all launches are enqueued (simt/cuda/hold.cu) belongs to no phase.
bool holds_the_stream(const std::string& demangled) { return demangled.find("hold_kernel(") != std::string::npos; }

// simt launches function objects through kernel_entry<Kernel, Args...>. The table shows the name of the object instead.
std::string short_name(const std::string& demangled) {
  const std::string entry = "kernel_entry<";
  const auto begin = demangled.find(entry);
  std::string name = begin == std::string::npos ? demangled : demangled.substr(begin + entry.size());
  name = name.substr(0, name.find_first_of("<,(>"));
  const auto colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

class Table {
 public:
  Table(const Row& names, const Row& units) : units_(units) {
    for (std::size_t column = 0; column < names.size(); ++column) column_of_[names[column]] = column;
  }

  bool is_hold(const Row& row) const { return holds_the_stream(row[column_of_.at("Kernel Name")]); }

  MeasuredKernel kernel(const Row& row) const {
    MeasuredKernel kernel;
    kernel.name = short_name(row[column_of_.at("Kernel Name")]);
    kernel.seconds = seconds(row);
    kernel.registers = value(row, register_metric);
    kernel.occupancy = value(row, occupancy_metric);
    const auto atomics = value(row, atomic_metric);
    const auto reductions = value(row, reduction_metric);
    if (atomics && kernel.seconds && *kernel.seconds > 0) {
      kernel.atomics_per_second = (*atomics + reductions.value_or(0)) / *kernel.seconds;
    }
    find_top_stall(row, kernel);
    return kernel;
  }

 private:
  std::optional<double> value(const Row& row, const std::string& metric) const {
    const auto column = column_of_.find(metric);
    return column == column_of_.end() ? std::nullopt : number_in(row[column->second]);
  }

  std::optional<double> seconds(const Row& row) const {
    static const std::map<std::string, double> scales = {{"nsecond", 1e-9}, {"ns", 1e-9},      {"usecond", 1e-6},
                                                         {"us", 1e-6},      {"msecond", 1e-3}, {"ms", 1e-3},
                                                         {"second", 1},     {"s", 1}};
    const auto time = value(row, time_metric);
    if (!time) return std::nullopt;
    const auto scale = scales.find(units_[column_of_.at(time_metric)]);
    return scale == scales.end() ? std::nullopt : std::optional(*time * scale->second);
  }

  void find_top_stall(const Row& row, MeasuredKernel& kernel) const {
    static const std::regex stall("smsp__average_warps_issue_stalled_(\\w+?)_per_issue_active\\.ratio");
    double sum = 0, top = 0;
    for (const auto& [name, column] : column_of_) {
      std::smatch match;
      if (!std::regex_match(name, match, stall) || match[1] == "selected") continue;
      const double warps = number_in(row[column]).value_or(0);
      sum += warps;
      if (warps <= top) continue;
      top = warps;
      kernel.top_stall = match[1];
    }
    if (sum > 0) kernel.top_stall_share = top / sum;
  }

  std::map<std::string, std::size_t> column_of_;
  Row units_;
};

template <class Value>
std::string or_dash(const std::optional<Value>& value, const std::string& text) {
  return value ? text : "-";
}

Row row_of(const MeasuredKernel& kernel) {
  std::string stall = kernel.top_stall.empty() ? "-" : kernel.top_stall;
  std::replace(stall.begin(), stall.end(), '_', ' ');
  if (!kernel.top_stall.empty()) stall += fmt::format(" {:.0f} %", 100 * kernel.top_stall_share);
  return {kernel.name,
          or_dash(kernel.seconds, format_seconds(kernel.seconds.value_or(0))),
          or_dash(kernel.registers, fmt::format("{:.0f}", kernel.registers.value_or(0))),
          or_dash(kernel.occupancy, fmt::format("{:.1f} %", kernel.occupancy.value_or(0))),
          or_dash(kernel.atomics_per_second, format_rate(kernel.atomics_per_second.value_or(0))),
          stall};
}

}  // namespace

std::vector<std::string> options_of_ncu() {
  return {
      "--csv",
      "--page",
      "raw",
      "--print-units",
      "base",
      "--section",
      "WarpStateStats",
      "--metrics",
      fmt::format("{},{},{},{},{}", time_metric, register_metric, occupancy_metric, atomic_metric, reduction_metric)};
}

std::vector<MeasuredKernel> read_kernels(const std::string& csv) {
  std::vector<Row> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("==") || line.find_first_not_of(" \r") == std::string::npos) continue;  // other output of ncu
    Row row = cells_of(line);
    if (rows.empty() && std::find(row.begin(), row.end(), "Kernel Name") == row.end()) continue;
    rows.push_back(std::move(row));
  }
  if (rows.size() < 2) throw UsageError("Nsight Compute measured no kernel.");
  for (const Row& row : rows) {
    if (row.size() != rows[0].size()) throw UsageError("Nsight Compute wrote a line that does not fit its header.");
  }
  const Table table(rows[0], rows[1]);
  std::vector<MeasuredKernel> kernels;
  for (std::size_t i = 2; i < rows.size(); ++i) {
    if (!table.is_hold(rows[i])) kernels.push_back(table.kernel(rows[i]));
  }
  if (kernels.empty()) throw UsageError("Nsight Compute measured no kernel.");
  return kernels;
}

std::string kernel_table(const std::vector<MeasuredKernel>& kernels) {
  std::vector<Row> rows = {{"kernel", "time", "registers", "occupancy", "L2 atomics", "waits for"}};
  for (const MeasuredKernel& kernel : kernels) rows.push_back(row_of(kernel));
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], printed_width(row[i]));
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      // Names are aligned left, numbers right. Nothing follows the last name.
      const bool is_last = i + 1 == row.size();
      text +=
          i == 0 ? fmt::format("{:{}}", row[i], widths[i]) : fmt::format("  {:>{}}", row[i], is_last ? 0 : widths[i]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace allocbench::front
