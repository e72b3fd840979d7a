// This file reads expected_failures.json, the list of cases of the contract suite that are expected to fail.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace allocbench::contract {

// Expectation says how a case ends with an allocator.
struct Expectation {
  std::string reason;   // why the case fails; empty if it must pass
  bool varies = false;  // true if the case may also pass, because the schedule decides
  bool named = false;   // true if the list has an entry for this case and not only for "*"
};

class Expectations {
 public:
  // Reads a JSON list of {"allocator", "case", "reason"}. An entry has "backend" if the case fails on one back end
  // only. Such an entry has "varies": true if the schedule decides. The CPU repeats the schedules of its default seed:
  // with this seed a case that varies passes, and all other listed cases fail. With another seed each listed case may
  // pass. The case "*" stands for all cases without an entry of their own. Throws std::runtime_error if the list names
  // a case that does not exist or has another mistake.
  Expectations(const std::string& file, const std::string& backend, const std::vector<std::string>& cases,
               bool other_seed);

  Expectation of(std::string_view allocator, std::string_view tested) const;

 private:
  std::map<std::pair<std::string, std::string>, Expectation> expected_;
};

}  // namespace allocbench::contract
