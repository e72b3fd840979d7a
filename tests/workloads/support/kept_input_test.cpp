// These tests check inputs that a process keeps, and inputs that the processes of a run share.
#include "workloads/support/inputs/kept_input.hpp"

#include <fstream>

#include "tests/workloads/scratch_folder.hpp"
#include "workloads/graph/updates.hpp"
#include "workloads/index_nodes/key_course.hpp"
#include "workloads/particle_frames/course.hpp"

namespace allocbench {
namespace {

using Kept = test::ScratchFolder;

struct Numbers {
  std::vector<std::uint32_t> flat;
  std::vector<std::vector<std::uint16_t>> rows;
  std::uint64_t sum = 0;

  template <class Self, class Visit>
  static void for_each_part(Self& self, const Visit& visit) {
    visit(self.flat);
    visit(self.rows);
    visit(self.sum);
  }
  friend bool operator==(const Numbers&, const Numbers&) = default;
};

const Numbers some{{3, 1, 4}, {{1, 5}, {}, {9}}, 23};

template <class Input>
void store_input(const std::string& key, const Input& input) {
  InputWriter writer;
  Input::for_each_part(input, [&](const auto& part) { writer.add(part); });
  store_value(key, writer.parts());
}

// Reads the input as another process does.
template <class Input>
Input read_back(const std::string& key) {
  std::optional<StoredValue> stored = StoredValue::open(key);
  EXPECT_TRUE(stored);
  Input input;
  InputReader reader(*stored);
  Input::for_each_part(input, [&](auto& part) { reader.read(part); });
  EXPECT_TRUE(reader.whole());
  return input;
}

std::shared_ptr<const Numbers> some_numbers(const std::string& key, int& made) {
  return kept_input<Numbers>(key, [&] {
    ++made;
    return some;
  });
}

TEST_F(Kept, InputIsMadeOnce) {
  int made = 0;
  const auto first = some_numbers("made once", made);
  EXPECT_EQ(*first, some);
  EXPECT_EQ(some_numbers("made once", made), first);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(read_back<Numbers>("made once"), some);
}

TEST_F(Kept, InputOfAnotherProcessIsRead) {
  Numbers other = some;
  other.rows[2] = {2, 6, 5};
  store_input("of another", other);
  int made = 0;
  EXPECT_EQ(*some_numbers("of another", made), other);
  EXPECT_EQ(made, 0);
}

TEST_F(Kept, InputThatIsNotWholeIsMadeAnew) {
  const std::string key = "not whole";
  store_input(key, some);
  const std::uintmax_t all = std::filesystem::file_size(files()[0]);
  for (std::uintmax_t bytes = sizeof(std::uint64_t) + key.size(); bytes < all; ++bytes) {
    std::filesystem::resize_file(files()[0], bytes);
    std::optional<StoredValue> stored = StoredValue::open(key);
    ASSERT_TRUE(stored);
    Numbers input;
    InputReader reader(*stored);
    Numbers::for_each_part(input, [&](auto& part) { reader.read(part); });
    EXPECT_FALSE(reader.whole()) << bytes;
    store_input(key, some);
  }
  std::ofstream(files()[0], std::ios::app) << 'x';
  int made = 0;
  EXPECT_EQ(*some_numbers(key, made), some);
  EXPECT_EQ(made, 1);
}

TEST_F(Kept, ProcessKeepsFourInputsOfATypeAndTheirUsersTheirs) {
  unsetenv("ALLOCBENCH_SCRATCH");  // there is nothing to read
  int made = 0;
  const auto first = some_numbers("first", made);
  for (const char* key : {"2", "3", "4", "first", "5"}) some_numbers(key, made);
  EXPECT_EQ(made, 5);
  EXPECT_EQ(some_numbers("first", made), first) << "it was asked for after the second";
  some_numbers("2", made);
  EXPECT_EQ(made, 6);
  for (const char* key : {"6", "7", "8", "9"}) some_numbers(key, made);
  EXPECT_EQ(*first, some);
}

TEST_F(Kept, CourseOfAnIndexIsStoredWhole) {
  const index::KeyCourse course = index::draw_keys(200, 3, 0.3, 7, 14, 11);
  store_input("index", course);
  const auto read = read_back<index::KeyCourse>("index");
  ASSERT_EQ(read.launches.size(), course.launches.size());
  ASSERT_EQ(read.look_ups.size(), course.look_ups.size());
  const auto same = [](const index::KeyOperation& a, const index::KeyOperation& b) {
    return a.key == b.key && a.value == b.value;
  };
  for (std::size_t i = 0; i < course.launches.size(); ++i) {
    EXPECT_TRUE(std::equal(read.launches[i].begin(), read.launches[i].end(), course.launches[i].begin(),
                           course.launches[i].end(), same));
  }
  for (std::size_t i = 0; i < course.look_ups.size(); ++i) {
    EXPECT_TRUE(std::equal(read.look_ups[i].begin(), read.look_ups[i].end(), course.look_ups[i].begin(),
                           course.look_ups[i].end(), same));
  }
  EXPECT_EQ(read.buckets, course.buckets);
  EXPECT_EQ(read.first_node, course.first_node);
}

TEST_F(Kept, CourseOfParticlesIsStoredWhole) {
  const particles::Course course = particles::work_out({4, 1 << 23}, 1000, 6, 7, 9);
  store_input("particles", course);
  const auto read = read_back<particles::Course>("particles");
  EXPECT_TRUE(std::equal(read.start.begin(), read.start.end(), course.start.begin(), course.start.end(),
                         [](const particles::Particle& a, const particles::Particle& b) { return a.id == b.id; }));
  EXPECT_EQ(read.begin, course.begin);
  EXPECT_EQ(read.freed, course.freed);
  EXPECT_EQ(read.allocated, course.allocated);
  EXPECT_EQ(read.cells, course.cells);
  EXPECT_EQ(read.first_frame, course.first_frame);
}

TEST_F(Kept, UpdatesOfAGraphAreStoredWhole) {
  const graph::Adjacency start = graph::adjacency_of(generate_edge_list(64, 400, 1), false);
  const graph::Updates updates = graph::draw_updates(start, {4, 150, 5, graph::Deletes::present}, 7);
  store_input("updates", updates);
  const auto read = read_back<graph::Updates>("updates");
  EXPECT_EQ(read.lists.first_entry, updates.lists.first_entry);
  EXPECT_EQ(read.lists.vertices, updates.lists.vertices);
  EXPECT_EQ(read.lists.first, updates.lists.first);
  EXPECT_EQ(read.lists.targets, updates.lists.targets);
  EXPECT_TRUE(std::equal(read.updates.begin(), read.updates.end(), updates.updates.begin(), updates.updates.end(),
                         [](const graph::ArcUpdate& a, const graph::ArcUpdate& b) {
                           return a.begin == b.begin && a.end == b.end && a.moves == b.moves;
                         }));
  EXPECT_EQ(read.bytes, updates.bytes);
  EXPECT_EQ(read.largest, updates.largest);
  for (const auto& [found, expected] :
       {std::pair(&read.inserted, &updates.inserted), std::pair(&read.final, &updates.final)}) {
    EXPECT_EQ(found->first, expected->first);
    EXPECT_EQ(found->targets, expected->targets);
  }
}

}  // namespace
}  // namespace allocbench
