// The skip rule: a series that timed out twice in growing order of its axis is not worth further deadlines.
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
  // The reason, when two cells with smaller values timed out.
  std::optional<std::string> reason_to_skip(const std::string& series, std::optional<double> growth) const;

 private:
  std::map<std::string, std::vector<double>> timeouts_;
};

}  // namespace allocbench::front
