// These tests check values that the processes of a run share through files, and the inputs of join and group-by, which
// are stored in this way.
#include "workloads/support/inputs/stored_value.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

#include "tests/workloads/cpu_device.hpp"
#include "tests/workloads/scratch_folder.hpp"
#include "workloads/group_by/keys.hpp"
#include "workloads/hash_join/join_steps.hpp"

namespace allocbench {
namespace {

using Stored = test::ScratchFolder;

constexpr std::uint32_t numbers[] = {3, 1, 4, 1};

void store_numbers(const std::string& key) {
  store_value(key, {std::as_bytes(std::span(numbers, 1)), std::as_bytes(std::span(numbers).subspan(1))});
}

TEST_F(Stored, ValueIsReadInPieces) {
  store_numbers("four");
  std::optional<StoredValue> value = StoredValue::open("four");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->bytes(), sizeof numbers);
  std::uint32_t found[4] = {};
  EXPECT_TRUE(value->read(found, 1));
  EXPECT_TRUE(value->read(found + 1, 3));
  EXPECT_TRUE(std::equal(found, found + 4, numbers));
  EXPECT_EQ(value->bytes(), 0u);
  EXPECT_FALSE(value->read(found, 1));
}

TEST_F(Stored, ValueIsThatOfItsKey) {
  store_numbers("four");
  EXPECT_FALSE(StoredValue::open("five"));
  // Two keys may have the same file name.
  std::filesystem::path other = folder_ / ("value-" + std::to_string(std::hash<std::string>{}("five")));
  ASSERT_EQ(files().size(), 1u);
  std::filesystem::rename(files()[0], other);
  EXPECT_FALSE(StoredValue::open("five"));
}

TEST_F(Stored, ValueMustHaveAWholeKey) {
  store_numbers("four");
  for (const std::uintmax_t bytes : {11, 3, 0}) {
    std::filesystem::resize_file(files()[0], bytes);
    EXPECT_FALSE(StoredValue::open("four")) << bytes;
  }
}

TEST_F(Stored, ValueNeedsAFolder) {
  setenv("ALLOCBENCH_SCRATCH", (folder_ / "nowhere").c_str(), 1);
  store_numbers("four");
  EXPECT_FALSE(StoredValue::open("four"));
  unsetenv("ALLOCBENCH_SCRATCH");
  store_numbers("four");
  EXPECT_FALSE(StoredValue::open("four"));
  EXPECT_TRUE(files().empty());
}

// A process does not read values that it has made itself, so each test has its own seed.
JoinSteps join(test::CpuDevice& cpu, std::uint64_t seed, const char* kind = "fk") {
  constexpr std::uint32_t tuples = 70'000;
  return {cpu.stream, {kind, tuples, 0.75, seed}, JoinShape::of(tuples, 8, 64), 0};
}

TEST_F(Stored, DigestOfALargeJoinComesFromTheFirstProcess) {
  test::CpuDevice cpu;
  EXPECT_EQ(join(cpu, 1001).expected_pairs(), 70'000u);
  ASSERT_EQ(files().size(), 1u);
  // Stores the count of another input, as if another process had made it.
  MultisetDigest digest;
  digest.count = 12;
  store_value("join of 70000 tuples, fk " + std::to_string(std::bit_cast<std::uint64_t>(0.75)) + ", seed 1002",
              {std::as_bytes(std::span(&digest, 1))});
  EXPECT_EQ(join(cpu, 1002).expected_pairs(), 12u);
  EXPECT_EQ(join(cpu, 1003).expected_pairs(), 70'000u);
}

TEST_F(Stored, KeysOfALargeJoinAreThoseOfTheHost) {
  for (const char* kind : {"fk", "dup", "sel", "skew"}) {
    test::CpuDevice cpu;
    JoinSteps steps = join(cpu, 1004, kind);
    steps.prepare();
    steps.partition();
    steps.join_in_two_passes();
    EXPECT_EQ(steps.problem(), "") << kind;
  }
}

TEST_F(Stored, KeysOfManyGroupsComeFromTheFirstProcess) {
  const GroupInput input{"gauss", 70'000, 1, 1001};
  const GroupReference made = group_reference(input, 30);
  ASSERT_EQ(files().size(), 1u);
  EXPECT_EQ(made.keys, group_keys(input));
  EXPECT_EQ(made.expected.groups, expected_groups(made.keys, 30).groups);
  // Another number of records per page is another value, which this process has not made.
  std::string key =
      "groups of 70000 keys, gauss " + std::to_string(std::bit_cast<std::uint64_t>(1.0)) + ", seed 1001, pages of ";
  std::vector<std::uint32_t> keys = made.keys;
  keys[5] = 7;
  GroupSums sums = made.expected;
  sums.pages[3] = 12;
  const auto store_planted = [&](const std::string& pages) {
    store_value(key + pages, {std::as_bytes(std::span(&sums, 1)), std::as_bytes(std::span<const std::uint32_t>(keys))});
  };
  store_planted("31");
  EXPECT_EQ(group_reference(input, 31).keys, keys);
  EXPECT_EQ(group_reference(input, 31).expected.pages[3], 12u);
  keys.pop_back();  // the value is not complete
  store_planted("32");
  EXPECT_EQ(group_reference(input, 32).keys, made.keys);
  EXPECT_NE(group_reference(input, 32).expected.pages[3], 12u);
}

TEST_F(Stored, SmallInputsAreMadeAnew) {
  test::CpuDevice cpu;
  static_cast<void>(JoinSteps(cpu.stream, {"fk", 1000, 0.75, 1001}, JoinShape::of(1000, 8, 64), 0));
  EXPECT_EQ(group_reference({"gauss", 1000, 1, 1001}, 30).expected.records.size(), 1000u);
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace allocbench
