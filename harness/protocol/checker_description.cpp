#include "harness/protocol/checker_description.hpp"

#include "harness/protocol/description_json.hpp"
#include "harness/protocol/version.hpp"

namespace allocbench::protocol {

Json to_json(const CheckerDescription& checker) {
  Json allocators = Json::array();
  for (const SubjectDescription& each : checker.allocators) {
    allocators.push_back(
        {{"name", each.name}, {"plugin", each.plugin}, {"summary", each.summary}, {"test_only", each.test_only}});
  }
  return {{"protocol", version},
          {"races", checker.races},
          {"strategies", checker.strategies},
          {"allocators", allocators},
          {"models", checker.models}};
}

CheckerDescription checker_from_json(const Json& json) {
  require_version(json);
  CheckerDescription checker;
  checker.races = truth_member_or(json, "races", false);
  checker.strategies = text_member(json, "strategies");
  for (const Json& each : list_member(json, "allocators")) {
    checker.allocators.push_back({text_member(each, "name"), text_member_or(each, "plugin", ""),
                                  text_member_or(each, "summary", ""), truth_member_or(each, "test_only", false)});
  }
  for (const Json& model : list_member(json, "models")) {
    text_member(model, "name");
    checker.models.push_back(model);
  }
  return checker;
}

}  // namespace allocbench::protocol
