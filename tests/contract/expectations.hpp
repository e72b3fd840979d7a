// The list of expected failures.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace allocbench::contract {

class Expectations {
 public:
  // A JSON list of {"allocator", "case", "reason"}, with "backend" where only one fails. Throws std::runtime_error for
  // cases that do not exist and for double entries.
  Expectations(const std::string& file, const std::string& backend, const std::vector<std::string>& cases);

  // Why this pair fails; empty when it must pass.
  std::string reason(std::string_view allocator, std::string_view tested) const;

 private:
  std::map<std::pair<std::string, std::string>, std::string> reasons_;
};

}  // namespace allocbench::contract
