// These tests check scenes: file formats, errors in files, subdivision and generators. They write small files.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "tests/workloads/scratch_folder.hpp"
#include "workloads/kd_tree/prepared_scene.hpp"
#include "workloads/kd_tree/stored_scene.hpp"

namespace allocbench::kd_tree {
namespace {

const std::string ascii_ply =
    "ply\nformat ascii 1.0\ncomment a square\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    "property uchar red\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0 9\n1 0 0 9\n1 1 0 9\n0 1 0.5 9\n4 0 1 2 3\n";

const std::vector<Triangle> square{{Corner{0, 0, 0}, Corner{1, 0, 0}, Corner{1, 1, 0}},
                                   {Corner{0, 0, 0}, Corner{1, 1, 0}, Corner{0, 1, 0.5f}}};

template <class T>
void append(std::string& text, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  text.append(bytes, sizeof value);
}

std::string binary_ply() {
  std::string text =
      "ply\r\nformat binary_little_endian 1.0\r\nelement vertex 4\r\nproperty float x\r\nproperty float y\r\n"
      "property double z\r\nelement face 1\r\nproperty ushort material\r\nproperty list uchar uint vertex_index\r\n"
      "element edge 1\r\nproperty int vertex1\r\nend_header\r\n";
  const float x[] = {0, 1, 1, 0};
  const float y[] = {0, 0, 1, 1};
  const double z[] = {0, 0, 0, 0.5};
  for (int i = 0; i < 4; ++i) append(text, x[i]), append(text, y[i]), append(text, z[i]);
  append(text, std::uint16_t{7});
  append(text, std::uint8_t{4});
  for (std::uint32_t i = 0; i < 4; ++i) append(text, i);
  append(text, std::int32_t{1});
  return text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

template <class Parse>
std::string message_of(Parse&& parse) {
  try {
    parse();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(PlyFile, IsReadAsTextAndAsBytes) {
  EXPECT_EQ(parse_ply(ascii_ply, "test"), square);
  EXPECT_EQ(parse_ply(binary_ply(), "test"), square);
}

TEST(PlyFile, SaysWhereItIsWrong) {
  const auto message = [](const std::string& from, const std::string& to) {
    return message_of([&] { parse_ply(replaced(ascii_ply, from, to), "a.ply"); });
  };
  EXPECT_EQ(message("ply\n", "plx\n"), "a.ply: line 1: found another start, allowed: ply, or an OBJ file named .obj");
  EXPECT_EQ(message("ascii", "binary_big_endian"),
            "a.ply: line 2: found format \"binary_big_endian\", allowed: ascii 1.0, binary_little_endian 1.0");
  EXPECT_EQ(message("float y", "real y"),
            "a.ply: line 6: found the type \"real\", allowed: char, uchar, short, ushort, int, uint, float, double");
  EXPECT_EQ(message("float z", "float w"), "a.ply: header: found no number z in element vertex, allowed: x, y and z");
  EXPECT_EQ(message("1 1 0 9", "1 one 0 9"), "a.ply: line 14: found \"one\", allowed: a number for every property");
  EXPECT_EQ(message("1 1 0 9", "1 nan 0 9").substr(0, 41), "a.ply: line 14: found the coordinate nan,");
  EXPECT_EQ(message("1 1 0 9", "1 1 0 9 9"),
            "a.ply: line 14: found more values than properties, allowed: one line per record");
  EXPECT_EQ(message("4 0 1 2 3", "4 0 1 2 4"),
            "a.ply: line 16: found the vertex number 4, allowed: 0 to 3, counted from 0");
  EXPECT_EQ(message("4 0 1 2 3", "2 0 1"), "a.ply: line 16: found 2 corners, allowed: 3 or more");
  EXPECT_EQ(message("4 0 1 2 3", "-4 0 1 2 3"), "a.ply: line 16: found a list of -4.000000 values, allowed: 0 to 2^31");
  EXPECT_EQ(message("4 0 1 2 3", "1e300 0 1 2 3"),
            "a.ply: line 16: found a list of more than 2^31 values, allowed: 0 to 2^31");
  EXPECT_EQ(message("4 0 1 2 3\n", ""), "a.ply: line 15: found the end of the file, allowed: another line");
  EXPECT_EQ(message("vertex 4", "vertex 3"),
            "a.ply: line 15: found more values than properties, allowed: one line per record")
      << "the fourth vertex is taken for a face";
}

TEST(PlyFile, SaysAtWhichByteItEnds) {
  const std::string text = binary_ply();
  const std::string cut = text.substr(0, text.size() - 6);
  const std::string message = message_of([&] { parse_ply(cut, "b.ply"); });
  EXPECT_EQ(message, "b.ply: byte " + std::to_string(cut.size() - 2) +
                         ": found the end of the file within a record, allowed: as many records as the header says");
  EXPECT_EQ(message_of([&] { parse_ply(text + "more", "b.ply"); }),
            "b.ply: byte " + std::to_string(text.size()) + ": found 4 bytes after the last element, allowed: none");
}

TEST(ObjFile, IsReadWithAllFormsOfCorners) {
  const char* text =
      "# a square\nmtllib x.mtl\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nvn 0 0 1\nv 0 1 0.5\r\ng side\nf 1/1/1 2//1 3/4 -1\n";
  EXPECT_EQ(parse_obj(text, "test"), square);
}

TEST(ObjFile, SaysWhereItIsWrong) {
  const auto message = [](const char* text) { return message_of([&] { parse_obj(text, "a.obj"); }); };
  EXPECT_EQ(message("v 0 0\n"), "a.obj: line 1: found the end of the line, allowed: three numbers after v");
  EXPECT_EQ(message("v 0 0 0\nv 0 0 x\n"), "a.obj: line 2: found \"x\", allowed: three numbers after v");
  EXPECT_EQ(
      message("v 0 0 0\nf 1 0 1\n"),
      "a.obj: line 2: found the corner \"0\", allowed: vertex numbers from 1, or from -1 backwards, each alone or "
      "before a /");
  EXPECT_EQ(message("v 0 0 0\nf 1 1 2\n"), "a.obj: line 2: found the vertex number 1, allowed: 0 to 0, counted from 0");
  EXPECT_EQ(message("v 0 0 0\nf -2 1 1\n"),
            "a.obj: line 2: found the vertex number -1, allowed: 0 to 0, counted from 0");
  EXPECT_EQ(message("v 0 0 0\n"), "a.obj: found no face, allowed: one or more");
}

TEST(SceneFile, OfTheRepositoryIsPackedAndWhole) {
  const std::vector<Triangle> scene = read_scene("lost_empire");
  EXPECT_EQ(scene.size(), 224'998u);
  EXPECT_EQ(boxes_of(scene).size(), 224'998u);
  const std::string message = message_of([] { read_scene("there_is_no_such_scene"); });
  EXPECT_NE(message.find("scenes/there_is_no_such_scene.ply.gz"), std::string::npos) << message;
  EXPECT_NE(message.find("data/README.md"), std::string::npos) << message;
}

TEST(Subdivision, CutsThroughTheMiddles) {
  const std::vector<Triangle> one{{Corner{0, 0, 0}, Corner{4, 0, 0}, Corner{0, 8, 2}}};
  const std::vector<Triangle> expected{{Corner{0, 0, 0}, Corner{2, 0, 0}, Corner{0, 4, 1}},
                                       {Corner{2, 0, 0}, Corner{4, 0, 0}, Corner{2, 4, 1}},
                                       {Corner{0, 4, 1}, Corner{2, 4, 1}, Corner{0, 8, 2}},
                                       {Corner{2, 0, 0}, Corner{2, 4, 1}, Corner{0, 4, 1}}};
  EXPECT_EQ(subdivide(one, 1), expected);
  EXPECT_EQ(subdivide(one, 0), one);
  EXPECT_EQ(subdivide(one, 3).size(), 64u);
  EXPECT_EQ(subdivide(subdivide(one, 1), 2), subdivide(one, 3));
}

TEST(GeneratedScene, IsTheSameForTheSameSeedOnly) {
  for (auto* generate : {&generate_terrain, &generate_spheres, &generate_soup}) {
    const std::vector<Triangle> scene = generate(3000, 5);
    EXPECT_EQ(scene.size(), 3000u);
    EXPECT_EQ(scene, generate(3000, 5));
    EXPECT_NE(scene, generate(3000, 6));
    for (const Triangle& triangle : scene) {
      for (const Corner& corner : triangle) ASSERT_TRUE(std::isfinite(corner.x + corner.y + corner.z));
    }
  }
}

// The widths of the boxes in x are compared. Some triangles of the soup are a hundred times as wide as others.
TEST(GeneratedScene, SoupHasLargeAndTinyTriangles) {
  std::vector<float> widths;
  for (const TriangleBox& box : boxes_of(generate_soup(2000, 1))) widths.push_back(box.high[0] - box.low[0]);
  std::sort(widths.begin(), widths.end());
  EXPECT_GT(widths[1900], 100 * widths[100]);
}

TEST(PreparedScene, IsMadeOnce) {
  const SceneChoice choice{.scene = "soup", .triangles = 100, .seed = 3};
  EXPECT_EQ(prepared_scene(choice), prepared_scene(choice));
  SceneChoice other = choice;
  other.seed = 4;
  EXPECT_NE(prepared_scene(choice), prepared_scene(other));
}

class StoredScene : public test::ScratchFolder {
 protected:
  const SceneChoice choice_{.scene = "spheres", .triangles = 500, .seed = 11};
};

TEST_F(StoredScene, IsWhatAnotherProcessPrepared) {
  // Only this test uses this seed, because a process does not store a scene that it has already prepared.
  const SceneChoice choice{.scene = "spheres", .triangles = 500, .seed = 12};
  const std::shared_ptr<const PreparedScene> made = prepared_scene(choice);
  ASSERT_EQ(files().size(), 1u);
  const std::shared_ptr<const PreparedScene> stored = read_stored(choice);
  ASSERT_NE(stored, nullptr);
  ASSERT_EQ(stored->boxes.size(), made->boxes.size());
  EXPECT_EQ(std::memcmp(stored->boxes.data(), made->boxes.data(), made->boxes.size() * sizeof(TriangleBox)), 0);
  EXPECT_EQ(std::memcmp(&stored->bounds, &made->bounds, sizeof(Box)), 0);
  EXPECT_EQ(stored->reference.digest, made->reference.digest);
  EXPECT_EQ(stored->reference.requests, made->reference.requests);
  EXPECT_EQ(stored->reference.by_size, made->reference.by_size);
  EXPECT_EQ(stored->reference.largest_request, made->reference.largest_request);
  EXPECT_EQ(stored->reference.limits.depth, made->reference.limits.depth);
}

TEST_F(StoredScene, IsOneChoiceOnly) {
  store(choice_, *prepared_scene(choice_));
  SceneChoice other = choice_;
  other.depth_limit = 5;
  EXPECT_EQ(read_stored(other), nullptr);
}

TEST_F(StoredScene, IsNotTakenWhereItsFileIsNotWhole) {
  store(choice_, *prepared_scene(choice_));
  ASSERT_EQ(files().size(), 1u);
  std::filesystem::resize_file(files()[0], std::filesystem::file_size(files()[0]) - 1);
  EXPECT_EQ(read_stored(choice_), nullptr);
  std::filesystem::resize_file(files()[0], 3);
  EXPECT_EQ(read_stored(choice_), nullptr);
}

TEST(PreparedScene, RefusesWhatCannotBeIndexed) {
  SceneChoice choice{.scene = "soup", .triangles = 1 << 20, .subdivisions = 6};
  const std::string message = message_of([&] { prepared_scene(choice); });
  EXPECT_NE(message.find("4294967296 triangles, allowed: up to 33554432"), std::string::npos) << message;
}

}  // namespace
}  // namespace allocbench::kd_tree
