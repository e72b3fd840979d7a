// These tests check how the loader handles damaged files, plug-ins of other workers, and plug-ins that kill the process
// that loads them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "harness/plugins/shared_objects.hpp"
#include "harness/plugins/trial.hpp"

namespace allocbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

fs::path built(const std::string& name) { return fs::path(ALLOCBENCH_LOADING_FOLDER) / (name + ".so"); }

std::string reason_for(const fs::path& file) {
  const LoadedFiles loaded = load_files({file}, "cpu", true);
  EXPECT_THAT(loaded.objects, IsEmpty());
  if (loaded.broken.size() != 1) return "";
  EXPECT_EQ(loaded.broken[0].file, file);
  EXPECT_THAT(loaded.broken[0].reason, testing::StartsWith(file.string() + ": "));
  return loaded.broken[0].reason.substr(file.string().size() + 2);
}

class PluginFiles : public testing::Test {
 protected:
  PluginFiles() : folder_(fs::path(testing::TempDir()) / ("plugin_files" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~PluginFiles() override { fs::remove_all(folder_); }

  fs::path cut_to(std::uintmax_t bytes) const {
    const fs::path file = folder_ / "cut.so";
    fs::copy_file(built("good"), file, fs::copy_options::overwrite_existing);
    fs::resize_file(file, bytes);
    return file;
  }

  fs::path folder_;
};

TEST_F(PluginFiles, AGoodOneIsLoaded) {
  const LoadedFiles loaded = load_files({built("good")}, "cpu", true);
  EXPECT_THAT(loaded.broken, IsEmpty());
  ASSERT_EQ(loaded.objects.size(), 1u);
  EXPECT_EQ(loaded.objects[0].function<int()>("plugin_file_answer")(), 42);
  EXPECT_EQ(loaded.objects[0].sources(), "unknown\n\nunknown\n");
  EXPECT_THROW(loaded.objects[0].function<int()>("no_such_function"), BadPlugin);
}

TEST_F(PluginFiles, AnotherWorkersIsRefusedByName) {
  EXPECT_EQ(reason_for(built("of_check")),
            "it is for allocbench-worker-check, this is allocbench-worker-cpu. Move it into the folder plugins/check, "
            "or remove it.");
  EXPECT_THAT(reason_for(built("of_tsan")), HasSubstr("it is for allocbench-worker-tsan, this is"));
  EXPECT_THAT(reason_for(built("of_cuda")), HasSubstr("it is for allocbench-worker-cuda, this is"));
  const LoadedFiles at_home = load_files({built("of_check")}, "check", true);
  EXPECT_EQ(at_home.objects.size(), 1u);
}

TEST_F(PluginFiles, AnotherBuildsIsRefusedWithBothTexts) {
  const std::string reason = reason_for(built("sanitized"));
  EXPECT_THAT(reason, HasSubstr("0123456789ab, GNU 1.2.3, thread sanitizer\""));
  EXPECT_THAT(reason, HasSubstr("this program has \"cpu worker, " ALLOCBENCH_PLUGIN_INTERFACE "\""));
  EXPECT_THAT(reason, HasSubstr("Rebuild it or remove it."));
}

TEST_F(PluginFiles, EveryCutOneIsRefused) {
  const std::uintmax_t whole = fs::file_size(built("good"));
  for (std::uintmax_t bytes = 0; bytes < whole; bytes += 1 + whole / 40) {
    EXPECT_THAT(reason_for(cut_to(bytes)), testing::AnyOf(HasSubstr("it is damaged: it has " + std::to_string(bytes)),
                                                          HasSubstr("it is not a shared object")));
  }
  EXPECT_THAT(reason_for(cut_to(whole - 1)), HasSubstr("it is damaged"));
}

TEST_F(PluginFiles, OtherFilesAreRefused) {
  const fs::path text = folder_ / "text.so";
  std::ofstream(text) << std::string(1000, 'x');
  EXPECT_EQ(reason_for(text), "it is not a shared object. Rebuild it or remove it.");
  EXPECT_THAT(reason_for(folder_ / "missing.so"), HasSubstr("it cannot be read: No such file"));
  EXPECT_THAT(reason_for(built("stranger")), HasSubstr("it does not say that it is a plug-in"));
  EXPECT_THAT(reason_for(built("needy")), HasSubstr("undefined symbol: nobody_has_this_function"));
}

TEST_F(PluginFiles, WhatKillsAProcessIsNamedAndTheOthersGoOn) {
  const LoadedFiles loaded =
      load_files({built("good"), built("deadly"), built("other"), built("leaving")}, "cpu", true);
  ASSERT_EQ(loaded.objects.size(), 2u);
  EXPECT_EQ(loaded.objects[0].file(), built("good"));
  EXPECT_EQ(loaded.objects[1].file(), built("other"));
  ASSERT_EQ(loaded.broken.size(), 2u);
  EXPECT_EQ(loaded.broken[0].reason, built("deadly").string() +
                                         ": loading it was ended by SIGSEGV (Segmentation fault). Rebuild it or "
                                         "remove it.");
  EXPECT_EQ(loaded.broken[1].reason,
            built("leaving").string() + ": loading it ended the process with exit code 9. Rebuild it or remove it.");
}

TEST_F(PluginFiles, TheTrialNamesTheFirstDeath) {
  EXPECT_EQ(death_while_loading({}), std::nullopt);
  EXPECT_EQ(death_while_loading({built("good"), built("needy")}), std::nullopt);
  const auto death = death_while_loading({built("good"), built("deadly"), built("leaving")});
  ASSERT_TRUE(death);
  EXPECT_EQ(death->index, 1u);
}

}  // namespace
}  // namespace allocbench
