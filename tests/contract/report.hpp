// What a case found: problems in words, and numbers.
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
  // Adds to the number of this name.
  void count(const std::string& name, std::uint64_t more) { counts_[name] += more; }

  const std::vector<std::string>& problems() const { return problems_; }
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  std::vector<std::string> problems_;
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace allocbench::contract
