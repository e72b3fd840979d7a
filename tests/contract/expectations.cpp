#include "tests/contract/expectations.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace allocbench::contract {

Expectations::Expectations(const std::string& file, const std::string& backend, const std::vector<std::string>& cases,
                           bool other_seed) {
  std::ifstream input(file);
  if (!input) throw std::runtime_error("cannot read " + file);
  const bool repeats = backend == "cpu" && !other_seed;
  std::vector<std::pair<std::string, Expectation>> for_all_cases;
  for (const nlohmann::json& entry : nlohmann::json::parse(input)) {
    const auto allocator = entry.at("allocator").get<std::string>();
    const auto tested = entry.at("case").get<std::string>();
    const auto reason = entry.at("reason").get<std::string>();
    if (tested != "*" && std::find(cases.begin(), cases.end(), tested) == cases.end()) {
      throw std::runtime_error(file + ": no case " + tested);
    }
    const bool varies = entry.value("varies", false);
    if ((varies && !entry.contains("backend")) || (tested == "*" && !varies)) {
      throw std::runtime_error(file + ": only with a \"backend\" may a case vary, and \"*\" only where all vary, " +
                               allocator + "/" + tested);
    }
    if (entry.value("backend", backend) != backend) continue;
    const Expectation expectation{varies && repeats ? std::string() : reason, !repeats && (varies || other_seed),
                                  tested != "*"};
    if (tested == "*") {
      for_all_cases.emplace_back(allocator, expectation);
    } else if (!expected_.try_emplace({allocator, tested}, expectation).second || reason.empty()) {
      throw std::runtime_error(file + ": no reason, or a second entry, for " + allocator + "/" + tested);
    }
  }
  for (const auto& [allocator, expectation] : for_all_cases) {
    for (const std::string& tested : cases) expected_.try_emplace({allocator, tested}, expectation);
  }
}

Expectation Expectations::of(std::string_view allocator, std::string_view tested) const {
  const auto found = expected_.find({std::string(allocator), std::string(tested)});
  return found == expected_.end() ? Expectation{} : found->second;
}

}  // namespace allocbench::contract
