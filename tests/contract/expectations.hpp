// The list of expected failures.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace allocbench::contract {

// How a case ends with an allocator.
struct Expectation {
  std::string reason;   // why it fails; empty when it must pass
  bool varies = false;  // it may pass as well: a race decides
};

class Expectations {
 public:
  // A JSON list of {"allocator", "case", "reason"}, with "backend" where only one fails, and there "varies": true where
  // schedules that nobody controls decide. Throws std::runtime_error for cases that do not exist and for double
  // entries.
  Expectations(const std::string& file, const std::string& backend, const std::vector<std::string>& cases);

  Expectation of(std::string_view allocator, std::string_view tested) const;

 private:
  std::map<std::pair<std::string, std::string>, Expectation> expected_;
};

}  // namespace allocbench::contract
