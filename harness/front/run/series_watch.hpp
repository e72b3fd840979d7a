// The skip rule: after one timeout the larger cells of a series come last, with a short deadline; after two they are
// skipped.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace allocbench::front {

class SeriesWatch {
 public:
  // growth: the cell's value on the primary axis; cells without one take no part.
  void note_timeout(const std::string& series, std::optional<double> growth);
  // Whether a cell with a smaller value timed out.
  bool is_hopeless(const std::string& series, std::optional<double> growth) const;
  // The reason, when two cells with smaller values timed out.
  std::optional<std::string> reason_to_skip(const std::string& series, std::optional<double> growth) const;

 private:
  std::vector<double> smaller_timeouts(const std::string& series, std::optional<double> growth) const;

  std::map<std::string, std::vector<double>> timeouts_;
};

}  // namespace allocbench::front
