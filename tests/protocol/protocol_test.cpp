// These tests check that a message arrives unchanged on the other side of the protocol, and that a malformed message is
// refused with a reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/checker_json.hpp"
#include "protocol/command_json.hpp"
#include "protocol/description_json.hpp"
#include "protocol/event_json.hpp"
#include "protocol/parameter_json.hpp"
#include "protocol/parameter_values.hpp"

namespace allocbench::protocol {
namespace {

using ::testing::HasSubstr;

template <class Read>
std::string complaint(Read&& read) {
  try {
    read();
  } catch (const Malformed& error) {
    return error.what();
  }
  return "";
}

TEST(Protocol, DescriptionsLoseNothing) {
  AllocatorDescription allocator;
  allocator.name = allocator.display_name = "halloc";
  allocator.pool = "arena_and_device_heap";
  allocator.frees = "in_bulk";
  allocator.restrictions = {"frees only in bulk", "one size"};
  allocator.fresh = "process";
  allocator.parameters = {{.name = "share", .unit = "", .default_value = 2.0, .minimum = 0, .maximum = 4},
                          {.name = "sizes", .default_value = std::vector<std::uint64_t>{16, 32}, .power_of_two = true},
                          {.name = "shape", .default_value = std::string("a"), .choices = {"a", "b"}}};
  WorkloadDescription workload;
  workload.name = workload.display_name = "alloc_free";
  workload.phases = {"alloc", "free"};
  workload.untimed_kernels = {"one_malloc"};
  workload.null_expected = true;
  const WorkerDescription worker{"cpu",
                                 "r",
                                 "m",
                                 "c",
                                 {allocator},
                                 {workload},
                                 {{"time", "s", "lower", "d", "harness"}},
                                 {{"halloc", "/p/halloc.so", "0123456789ab"}},
                                 {{"slab", "/p/slab.so: it is damaged."}}};
  const Json json = to_json(worker);
  EXPECT_EQ(to_json(worker_from_json(Json::parse(json.dump()))), json);
  // Most writers of JSON write 2.0 as 2.
  Json whole = json;
  whole["allocators"][0]["parameters"][0]["default"] = 2u;
  EXPECT_EQ(worker_from_json(whole).allocators[0].parameters[0].type(), ParameterType::number);
  whole.erase("plugins");
  whole.erase("broken_plugins");
  EXPECT_TRUE(worker_from_json(whole).broken_plugins.empty());
}

TEST(Protocol, DescriptionsAreOfThisVersionAndUseKnownWords) {
  Json json = to_json(WorkerDescription{"cpu", "", "", "", {AllocatorDescription{}}, {}, {}, {}, {}});
  json["allocators"][0]["pool"] = "cloud";
  EXPECT_THAT(complaint([&] { worker_from_json(json); }), HasSubstr("\"pool\" must be one of arena, device_heap"));
  json["protocol"] = 2;
  EXPECT_THAT(complaint([&] { worker_from_json(json); }), HasSubstr("it speaks protocol 2"));
}

TEST(Protocol, CommandsLoseNothing) {
  const ParameterValues parameters = {{"a", true}, {"b", std::uint64_t{3}}, {"c", 0.5}, {"d", std::string("x")}};
  const std::vector<Command> commands = {
      LoadAllocator{"halloc", parameters, 4096},
      OpenCell{"id", "alloc_free", parameters, 7, StartState::reused, 0, L2State::flushed, 2, 3},
      OpenCell{"id", "alloc_free", parameters, 7, StartState::aged, 100, L2State::warm, 2, 3},
      VerifyCell{"id"},
      VerifyCell{"id", 1.75},
      VerifyCell{"id", {}, 0.25, true},
      SampleCell{"id", 4},
      SampleCell{"id", 1, true},
      CloseCell{"id"},
      Quit{}};
  for (const Command& command : commands) {
    const Json json = to_json(command);
    EXPECT_EQ(to_json(command_from_json(Json::parse(json.dump()))), json);
  }
}

TEST(Protocol, WhatCommandsLeaveOutHasItsUsualValue) {
  const auto verify = std::get<VerifyCell>(command_from_json({{"command", "verify"}, {"cell", "id"}}));
  EXPECT_FALSE(verify.seconds || verify.contents_seconds || verify.stages);
  const auto sample = std::get<SampleCell>(command_from_json({{"command", "sample"}, {"cell", "id"}}));
  EXPECT_EQ(sample.samples, 1u);
  EXPECT_FALSE(sample.stages);
  EXPECT_EQ(
      to_json(Command(VerifyCell{"id", 1.75, 0.25, true})),
      Json({{"command", "verify"}, {"cell", "id"}, {"seconds", 1.75}, {"contents_seconds", 0.25}, {"stages", true}}));
  EXPECT_EQ(complaint([] {
              command_from_json({{"command", "sample"}, {"cell", "id"}, {"stages", 1}});
            }),
            "\"stages\" must be true or false; found 1");
}

TEST(Protocol, AVerificationIsStaleOnlyWhereItSaysSo) {
  EXPECT_FALSE(to_json(Event(Verified{"id", {}, {}})).contains("stale"));
  EXPECT_FALSE(std::get<Verified>(*event_from_json({{"event", "verified"}, {"cell", "id"}})).stale);
  EXPECT_TRUE(std::get<Verified>(*event_from_json({{"event", "verified"}, {"cell", "id"}, {"stale", true}})).stale);
}

TEST(Protocol, EventsLoseNothing) {
  Device device;
  device.name = "GPU";
  device.sm_count = 132;
  Counted counted;
  counted.values = {{"steps_per_malloc", {1, 1.5}}};
  counted.histograms = {{"steps", {{0, 3}, {1, 4}}}};
  const std::vector<Event> events = {
      Ready{1, "cuda", device},
      NoEnvironment{"no driver"},
      AllocatorReady{4096, 8, 0.25},
      Opened{"id", {{"alloc", 32, 0}}, false},
      Verified{"id",
               {.null_returns = 0,
                .blocks = 2,
                .content = "checked",
                .leak_rounds = {},
                .leak = {},
                .spurious_nulls = 0,
                .reset = "checked: 8 blocks"},
               counted},
      Verified{"id", {}, {}, true},
      Stage{"id", "fill"},
      Sample{"id", {{"alloc", 0.5, 10}}, {{"null_returns", 0}}, 1980, {}, false, 0.75, Loop{4, 0.5}},
      Closed{"id"},
      Failed{"id", Status::oom, "full", false},
      Profile{{{"start", 0.5}}, 0.25},
      Loaded{},
      ProtocolError{"what?"}};
  for (const Event& event : events) {
    const Json json = to_json(event);
    const auto read = event_from_json(Json::parse(json.dump()));
    ASSERT_TRUE(read.has_value()) << json;
    EXPECT_EQ(to_json(*read), json);
    EXPECT_EQ(json["event"], name_of(event));
  }
  EXPECT_FALSE(event_from_json(Json{{"event", "note"}}).has_value());
}

Model small_model() {
  Model model;
  model.name = "m";
  model.threads_per_block = 2;
  model.steps = {{}};
  return model;
}

TEST(Protocol, MessagesOfCheckingWorkersLoseNothing) {
  const CheckTarget target{"halloc", small_model()};
  const std::vector<CheckerCommand> commands = {
      Explore{target, "swarm", 5, 100, false, true}, Replay{target, "random/4", 7, {}, 3},
      Replay{target, "", 0, "v1:1:0.6s1", 1}, Shrink{target, "v1:1:", true}, Quit{}};
  for (const CheckerCommand& command : commands) {
    const Json json = to_json(command);
    EXPECT_EQ(to_json(checker_command_from_json(Json::parse(json.dump()))), json);
  }
  const CheckedRun run{7, "failed check", "s", "r", "v1:7:", 2};
  const std::vector<CheckerEvent> events = {CheckerReady{1, true},
                                            Explored{10, 1, 500, true, run},
                                            Explored{10, 0, 500, false, {}},
                                            Replayed{3, 2, run},
                                            Shrunk{40, run},
                                            Unsupported{"why"},
                                            Refused{"why"},
                                            ProtocolError{"why"}};
  for (const CheckerEvent& event : events) {
    const Json json = to_json(event);
    EXPECT_EQ(to_json(checker_event_from_json(Json::parse(json.dump()))), json);
  }
  const CheckerDescription checker{
      true, "swarm", {{"a", "p", "s", true}}, {small_model()}, {{"slab", "/p/slab.so: it is damaged."}}};
  EXPECT_EQ(to_json(checker_from_json(to_json(checker))), to_json(checker));
}

TEST(Protocol, MistakesInAModelAreNamedWhereItArrives) {
  Json command = to_json(CheckerCommand(Shrink{{"halloc", small_model()}, "v1:1:", false}));
  command["model"]["blocks"] = -1;
  command["model"]["steps"][0]["do"] = "mallok";
  EXPECT_EQ(complaint([&] { checker_command_from_json(command); }),
            "model \"m\":\n  /blocks: found -1; allowed: a count\n  /steps/0/do: found \"mallok\"; "
            "allowed: \"malloc\", \"free\", \"free_null\" or \"barrier\"");
  EXPECT_EQ(complaint([] {
              checker_event_from_json({{"event", "explored"}, {"tried", -1}});
            }),
            "\"tried\" must be a non-negative integer; found -1");
}

TEST(Protocol, MalformedAnswersAreNamed) {
  const Json sample = to_json(Event(Sample{"id", {{"alloc", 0.5, 10}}, {}, {}, {}, {}, {}, {}}));
  const auto complaint_about = [&](const char* pointer, const Json& value) {
    Json changed = sample;
    changed[Json::json_pointer(pointer)] = value;
    return complaint([&] { event_from_json(changed); });
  };
  EXPECT_EQ(complaint_about("/phases/0/seconds", 0.5), "");
  for (const Json& seconds : {Json(-1), Json(1e7), Json(nullptr), Json("0.5")}) {
    EXPECT_THAT(complaint_about("/phases/0/seconds", seconds),
                HasSubstr("\"seconds\" must be a number of seconds from 0 to 1000000"));
  }
  EXPECT_EQ(complaint_about("/phases", Json::array()), "\"phases\" must not be empty");
  EXPECT_EQ(complaint_about("/throttled", 1), "\"throttled\" must be true or false; found 1");
  EXPECT_EQ(complaint_about("/counters", {{"x", "y"}}), "\"x\" must be a number; found \"y\"");
  EXPECT_EQ(complaint_about("/cell", 1), "\"cell\" must be a text; found 1");
  EXPECT_THAT(complaint([] {
                event_from_json({{"event", "failed"}, {"status", "ok"}, {"reason", ""}});
              }),
              HasSubstr("\"ok\" is not the status of a failure"));
}

TEST(Protocol, ZerosAreNoCounts) {
  Counted counted;
  EXPECT_FALSE(counted.has_counts());
  counted.values = {{"operations_per_malloc", {0, 0}}, {"operations_per_free", {0, 0}}};
  EXPECT_FALSE(counted.has_counts());
  counted.values[0].per_pass[1] = 0.5;
  EXPECT_TRUE(counted.has_counts());
}

TEST(Protocol, ValuesAreCheckedByTypeBoundsAndChoices) {
  const ParameterInfo pages{
      .name = "pages", .default_value = std::uint64_t{16}, .minimum = 8, .maximum = 64, .power_of_two = true};
  EXPECT_TRUE(allows(pages, std::uint64_t{8}));
  for (const ParameterValue& wrong :
       {ParameterValue(std::uint64_t{4}), ParameterValue(std::uint64_t{24}), ParameterValue(8.0)}) {
    EXPECT_FALSE(allows(pages, wrong));
  }
  const ParameterInfo shape{.name = "shape", .default_value = std::string("a"), .choices = {"a"}};
  EXPECT_TRUE(allows(shape, std::string("a")));
  EXPECT_FALSE(allows(shape, std::string("b")));
  EXPECT_THAT(complaint([] { value_from_json(-1); }), HasSubstr("-1"));
}

}  // namespace
}  // namespace allocbench::protocol
