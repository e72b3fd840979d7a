// contract_test_<backend> loads the plug-ins as a worker does and runs every case with every allocator: one test for
// each pair, named <plug-in>.<allocator>/<case>. A plug-in dropped into the folder is tested too.
#include <gtest/gtest.h>

#include <cstdio>

#include "harness/worker/plugins.hpp"
#include "tests/contract/expectations.hpp"
#include "tests/contract/suite.hpp"

namespace {

constexpr int no_device = 77;  // SKIP_RETURN_CODE in CMakeLists.txt

class Test : public testing::Test {
 public:
  Test(const allocbench::AllocatorType& type, const allocbench::contract::Case& tested,
       allocbench::contract::Expectation expected)
      : type_(type), case_(tested), expected_(std::move(expected)) {}

  void TestBody() override {
    if (type_.traits.test_only) GTEST_SKIP() << "broken on purpose: suite_test.cpp";
    const std::string inapplicable = case_.inapplicable(type_.traits);
    if (!inapplicable.empty()) {
      EXPECT_TRUE(expected_.reason.empty() || !expected_.named)
          << "listed as an expected failure, but it never runs: " << inapplicable;
      GTEST_SKIP() << inapplicable;
    }
    const allocbench::contract::Report report = allocbench::contract::run_case(case_, type_);
    for (const auto& [name, count] : report.counts()) RecordProperty(name, std::to_string(count));
    if (!report.problems().empty()) RecordProperty("problem", report.problems().front());
    if (!report.skipped().empty() && report.problems().empty()) {
      EXPECT_TRUE(expected_.reason.empty() || !expected_.named)
          << "listed as an expected failure, but skipped: " << report.skipped();
      GTEST_SKIP() << report.skipped();
    }
    if (expected_.reason.empty()) {
      for (const std::string& problem : report.problems()) ADD_FAILURE() << problem;
      return;
    }
    for (const std::string& problem : report.problems()) std::printf("fails as expected: %s\n", problem.c_str());
    EXPECT_TRUE(expected_.varies || !report.problems().empty())
        << "it passes: remove it from expected_failures.json, which says: " << expected_.reason;
  }

 private:
  const allocbench::AllocatorType& type_;
  allocbench::contract::Case case_;
  allocbench::contract::Expectation expected_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!allocbench::contract::device_is_present()) {
    std::puts("no CUDA device: all tests are skipped");
    return no_device;
  }
  const std::string backend = allocbench::contract::backend;
  const allocbench::worker::Registry registry = allocbench::worker::load_plugins(backend, {});
  const std::vector<allocbench::contract::Case> cases = allocbench::contract::all_cases();
  std::vector<std::string> names;
  for (const allocbench::contract::Case& each : cases) names.emplace_back(each.name);
  const allocbench::contract::Expectations expectations(ALLOCBENCH_EXPECTED_FAILURES, backend, names,
                                                        allocbench::contract::other_schedules());
  for (const auto& type : registry.allocators()) {
    for (const allocbench::contract::Case& tested : cases) {
      const std::string name = std::string(type->traits.name) + "/" + tested.name;
      const auto expected = expectations.of(type->traits.name, tested.name);
      testing::RegisterTest(type->plugin.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [&type = *type, tested, expected] { return new Test(type, tested, expected); });
    }
  }
  const int result = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0 && !testing::GTEST_FLAG(list_tests)) {
    std::puts("no test was selected: is the plug-in built?");
    return 1;
  }
  return result;
}
