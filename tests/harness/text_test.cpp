// These tests check sizes and counts in texts, quotes for a shell, nearest names, hashes and strict JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/front/common/json_text.hpp"
#include "harness/front/common/nearest_name.hpp"
#include "harness/front/common/shell.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/common/units.hpp"

namespace allocbench::front {
namespace {

TEST(Units, ParsesSizes) {
  EXPECT_EQ(parse_bytes("4096"), 4096u);
  EXPECT_EQ(parse_bytes("64KiB"), 65536u);
  EXPECT_EQ(parse_bytes("2 GiB"), 2147483648u);
  EXPECT_EQ(parse_bytes("128 KiB"), 131072u);
  EXPECT_EQ(parse_bytes("1.5MiB"), 1572864u);
  EXPECT_EQ(parse_bytes("16B"), 16u);
}

TEST(Units, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", "KiB", "-1", "12 Kx", "1.5", "64kb", "64KB", "1 GB", "1e3", "99999999TiB", "4 096", "nan"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(Units, GuessesWhichSizeIsMeant) {
  for (const char* text : {"64MB", "64 MB", "64mb", "64M", "64mib", "64 miB"})
    EXPECT_EQ(nearest_size(text), "64MiB") << text;
  EXPECT_EQ(nearest_size("1.5GB"), "1.5GiB");
  EXPECT_EQ(nearest_size("16kB"), "16KiB");
  for (const char* text :
       {"", "MB", "64", "64MiB", "1GiB", "64 bytes", "64 MBit", "1.2.3MB", "0.3kB", "x64MB", "99999999TB"}) {
    EXPECT_EQ(nearest_size(text), "") << text;
  }
}

TEST(Units, CountsInWords) {
  EXPECT_EQ(counted(1, "cell"), "1 cell");
  EXPECT_EQ(counted(0, "cell"), "0 cells");
  EXPECT_EQ(counted(1, "batch"), "1 batch");
  EXPECT_EQ(counted(2, "batch"), "2 batches");
  EXPECT_EQ(counted(3, "series"), "3 series");
  EXPECT_EQ(counted(2, "worker process"), "2 worker processes");
  EXPECT_EQ(is_or_are(1), "is");
  EXPECT_EQ(is_or_are(0), "are");
}

TEST(Units, FormatsMemoryWithTheUnitThatFits) {
  EXPECT_EQ(format_memory(0), "0 B");
  EXPECT_EQ(format_memory(5), "5 B");
  EXPECT_EQ(format_memory(1000), "1000 B");
  EXPECT_EQ(format_memory(1536), "1.5 KiB");
  EXPECT_EQ(format_memory(85520809984), "79.6 GiB");
  EXPECT_EQ(format_memory(std::uint64_t{1000} << 30), "1000 GiB");
  EXPECT_EQ(format_memory((std::uint64_t{1} << 40) - 1), "1 TiB");
  EXPECT_EQ(format_memory(std::uint64_t{1} << 40), "1 TiB");
  EXPECT_EQ(format_memory(std::uint64_t{5000} << 40), "5000 TiB");
}

TEST(Terminal, FoldsInANarrowTerminal) {
  EXPECT_EQ(folded("one two three", 7, 2), "one two\n  three\n");
  EXPECT_EQ(folded("one twelve four", 4, 4), "one\n    twelve\n    four\n") << "the indent leaves no room";
  EXPECT_EQ(folded("one two", 3, 9), "one\n         two\n");
}

TEST(Units, FormatsForPeople) {
  EXPECT_EQ(format_bytes(65536), "64 KiB");
  EXPECT_EQ(format_bytes(1000), "1000 B");
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_seconds(0.00123), "1.23 ms");
  EXPECT_EQ(format_seconds(0.0000456), "45.6 µs");
  EXPECT_EQ(format_seconds(2), "2.00 s");
  EXPECT_EQ(format_seconds(0.0009998), "1.00 ms");
  EXPECT_EQ(format_seconds(5e-10), "0.50 ns");
  EXPECT_EQ(format_rate(1.25e9), "1.25 Gop/s");
  EXPECT_EQ(format_rate(12), "12.0 op/s");
  EXPECT_EQ(format_duration(45), "45 s");
  EXPECT_EQ(format_duration(200), "3 min 20 s");
  EXPECT_EQ(format_duration(7500), "2 h 05 min");
  EXPECT_EQ(format_limit(1.5), "1.5 s");
  EXPECT_EQ(format_limit(0.02), "0.02 s");
  EXPECT_EQ(format_limit(2), "2 s");
  EXPECT_EQ(format_limit(200), "3 min 20 s");
}

TEST(Shell, QuotesOnlyWhatAShellWouldRead) {
  EXPECT_EQ(quoted("results/quick-cuda"), "results/quick-cuda");
  EXPECT_EQ(quoted("v1:c_malloc:ring:dfs/3,+@="), "v1:c_malloc:ring:dfs/3,+@=");
  EXPECT_EQ(quoted(""), "''");
  EXPECT_EQ(quoted("a b; c"), "'a b; c'");
  EXPECT_EQ(quoted("it's"), R"('it'\''s')");
  EXPECT_EQ(quoted("$HOME"), "'$HOME'");
  EXPECT_EQ(quoted("~"), "'~'");
}

TEST(NearestName, CountsEdits) {
  EXPECT_EQ(edit_distance("halloc", "halloc"), 0u);
  EXPECT_EQ(edit_distance("hallco", "halloc"), 1u);  // a swap is one mistake
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(NearestName, SuggestsOnlyWhatIsNear) {
  const std::vector<std::string> names = {"halloc", "scatteralloc", "kma"};
  EXPECT_EQ(nearest_name("haloc", names), "halloc");
  EXPECT_EQ(nearest_name("scatter_alloc", names), "scatteralloc");
  EXPECT_EQ(nearest_name("completely_else", names), "");
  EXPECT_EQ(nearest_name("xyz", names), "");
  EXPECT_EQ(nearest_name("scat", names), "scatteralloc");
  EXPECT_EQ(nearest_name("sc", names), "");
  EXPECT_EQ(nearest_name("kma", {"kma2014_reworked", "kma2014"}), "kma2014");
  EXPECT_EQ(nearest_name("kma", {"kma2014", "kma2014_reworked", "kma_malloc"}), "");
}

// Ids are keys of stored results, so this value must never change.
TEST(Hash, IsStable) {
  EXPECT_EQ(stable_hash(""), "efd01f60ba992926");
  EXPECT_EQ(stable_hash("allocbench"), "1535fd40c4c8ee7c");
  EXPECT_NE(stable_hash("a"), stable_hash("b"));
}

TEST(Hash, CanonicalTextIgnoresTheOrderOfKeys) {
  const auto one = nlohmann::ordered_json::parse(R"({"b": 1, "a": {"d": 2, "c": 3}})");
  const auto other = nlohmann::ordered_json::parse(R"({"a": {"c": 3, "d": 2}, "b": 1})");
  EXPECT_EQ(canonical_text(one), canonical_text(other));
  EXPECT_EQ(canonical_text(one), R"({"a":{"c":3,"d":2},"b":1})");
}

TEST(StrictJson, TellsLineAndColumn) {
  Problems problems;
  parse_strictly("{\n  \"name\": 1,\n  \"x\" 2\n}", problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems.list()[0].where, "line 3, column 7");
}

TEST(StrictJson, FindsKeysGivenTwice) {
  Problems problems;
  parse_strictly(R"({"a": [{"b": 1}, {"c/d": 1, "c/d": 2}], "a": 3})", problems);
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems.list()[0].where, "/a/1/c~1d");
  EXPECT_EQ(problems.list()[1].where, "/a");
}

}  // namespace
}  // namespace allocbench::front
