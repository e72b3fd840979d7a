#include "tests/contract/expectations.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace allocbench::contract {

Expectations::Expectations(const std::string& file, const std::string& backend, const std::vector<std::string>& cases) {
  std::ifstream input(file);
  if (!input) throw std::runtime_error("cannot read " + file);
  for (const nlohmann::json& entry : nlohmann::json::parse(input)) {
    const auto allocator = entry.at("allocator").get<std::string>();
    const auto tested = entry.at("case").get<std::string>();
    const auto reason = entry.at("reason").get<std::string>();
    if (std::find(cases.begin(), cases.end(), tested) == cases.end()) {
      throw std::runtime_error(file + ": no case " + tested);
    }
    const bool varies = entry.value("varies", false);
    if (varies && entry.value("backend", "") != "cuda") {
      throw std::runtime_error(file + ": only with \"backend\": \"cuda\" may a case vary, " + allocator + "/" + tested);
    }
    if (entry.value("backend", backend) != backend) continue;
    if (reason.empty() || !expected_.try_emplace({allocator, tested}, Expectation{reason, varies}).second) {
      throw std::runtime_error(file + ": no reason, or a second entry, for " + allocator + "/" + tested);
    }
  }
}

Expectation Expectations::of(std::string_view allocator, std::string_view tested) const {
  const auto found = expected_.find({std::string(allocator), std::string(tested)});
  return found == expected_.end() ? Expectation{} : found->second;
}

}  // namespace allocbench::contract
