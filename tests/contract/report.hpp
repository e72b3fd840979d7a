// A report has the result of a case of the contract suite: problems in words, and numbers.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace allocbench::contract {

class Report {
 public:
  static constexpr std::size_t most_problems = 8;

  void problem(const std::string& text) {
    if (problems_.size() < most_problems) problems_.push_back(text);
  }
  // Records the reason why the case could not examine its subject. Then it neither passes nor fails.
  void skip(const std::string& reason) { skipped_ = reason; }
  // Adds to the number of this name.
  void count(const std::string& name, std::uint64_t more) { counts_[name] += more; }

  const std::vector<std::string>& problems() const { return problems_; }
  const std::string& skipped() const { return skipped_; }
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  std::vector<std::string> problems_;
  std::string skipped_;
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace allocbench::contract
