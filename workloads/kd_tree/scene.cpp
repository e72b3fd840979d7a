#include "workloads/kd_tree/scene.hpp"

#include <cmath>
#include <numbers>

#include "workloads/support/inputs/data_files.hpp"
#include "workloads/support/random/random.hpp"

namespace allocbench::kd_tree {
namespace {

// Returns numbers in [0, 1), one after the other.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  double operator()() {
    if (next_ % 4 == 0) words_ = random_words(seed_, RandomStream::scene, next_ / 4);
    return unit_interval(words_.words[next_++ % 4]);
  }
  double between(double low, double high) { return low + (high - low) * (*this)(); }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
  RandomWords words_{};
};

Corner corner(double x, double y, double z) {
  return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)};
}

// Returns the middle. Each operation is rounded separately, so all machines get the same bits.
Corner middle(const Corner& a, const Corner& b) { return {0.5f * (a.x + b.x), 0.5f * (a.y + b.y), 0.5f * (a.z + b.z)}; }

void add_sphere(std::vector<Triangle>& mesh, const Corner& centre, double radius, std::uint32_t rings) {
  const std::uint32_t sectors = 2 * rings;
  const auto at = [&](std::uint32_t ring, std::uint32_t sector) {
    const double polar = std::numbers::pi * ring / rings;
    const double azimuth = 2 * std::numbers::pi * (sector % sectors) / sectors;
    return corner(static_cast<double>(centre.x) + radius * std::sin(polar) * std::cos(azimuth),
                  static_cast<double>(centre.y) + radius * std::cos(polar),
                  static_cast<double>(centre.z) + radius * std::sin(polar) * std::sin(azimuth));
  };
  for (std::uint32_t ring = 0; ring < rings; ++ring) {
    for (std::uint32_t sector = 0; sector < sectors; ++sector) {
      const Corner a = at(ring, sector), b = at(ring, sector + 1), c = at(ring + 1, sector),
                   d = at(ring + 1, sector + 1);
      if (ring != 0) mesh.push_back({a, b, c});
      if (ring + 1 != rings) mesh.push_back({b, d, c});
    }
  }
}

}  // namespace

std::vector<Triangle> read_scene(const std::string& name) {
  for (const char* ending : {".ply.gz", ".ply", ".obj.gz", ".obj"}) {
    const std::string file = "scenes/" + name + ending;
    if (!has_data_file(file)) continue;
    const std::string text = read_text_file(find_data_file(file));
    return std::string_view(ending).starts_with(".ply") ? parse_ply(text, file) : parse_obj(text, file);
  }
  find_data_file("scenes/" + name + ".ply.gz (nor .ply, .obj.gz, .obj)");  // throws, with all places searched
  return {};
}

std::vector<Triangle> generate_terrain(std::uint32_t triangles, std::uint64_t seed) {
  const auto side = static_cast<std::uint32_t>(std::ceil(std::sqrt(triangles / 2.0)));
  Draws draw(seed);
  struct Hill {
    double x, z, height, width;
  };
  std::vector<Hill> hills(24);
  for (Hill& hill : hills) {
    hill = {draw(), draw(), draw.between(0.02, 0.2), draw.between(0.03, 0.2)};
  }
  std::vector<Corner> corners;
  corners.reserve(std::size_t{side + 1} * (side + 1));
  for (std::uint32_t row = 0; row <= side; ++row) {
    for (std::uint32_t column = 0; column <= side; ++column) {
      const double x = static_cast<double>(column) / side, z = static_cast<double>(row) / side;
      double y = 0.2 / side * draw();
      for (const Hill& hill : hills) {
        const double dx = (x - hill.x) / hill.width, dz = (z - hill.z) / hill.width;
        const double near = 1 + dx * dx + dz * dz;  // no exp(), because its last bits differ between libraries
        y += hill.height / (near * near);
      }
      corners.push_back(corner(x, y, z));
    }
  }
  std::vector<Triangle> mesh;
  mesh.reserve(std::size_t{2} * side * side);
  for (std::uint32_t row = 0; row < side; ++row) {
    for (std::uint32_t column = 0; column < side; ++column) {
      const std::size_t a = std::size_t{row} * (side + 1) + column, b = a + side + 1;
      mesh.push_back({corners[a], corners[a + 1], corners[b]});
      mesh.push_back({corners[a + 1], corners[b + 1], corners[b]});
    }
  }
  mesh.resize(triangles);
  return mesh;
}

std::vector<Triangle> generate_spheres(std::uint32_t triangles, std::uint64_t seed) {
  constexpr std::uint32_t rings = 12;
  std::vector<Triangle> mesh;
  mesh.reserve(triangles + 4 * rings * rings);
  mesh.push_back({corner(0, 0, 0), corner(1, 0, 0), corner(0, 0, 1)});
  mesh.push_back({corner(1, 0, 0), corner(1, 0, 1), corner(0, 0, 1)});
  Draws draw(seed);
  while (mesh.size() < triangles) {
    const double size = draw();
    const double radius = 0.005 + 0.06 * size * size * size;
    const double x = draw(), y = draw() * 0.5, z = draw();
    add_sphere(mesh, corner(x, y + radius, z), radius, rings);
  }
  mesh.resize(triangles);
  return mesh;
}

std::vector<Triangle> generate_soup(std::uint32_t triangles, std::uint64_t seed) {
  Draws draw(seed);
  std::vector<Triangle> mesh(triangles);
  for (Triangle& triangle : mesh) {
    const double x = draw(), y = draw(), z = draw();
    double doublings;
    const double rest = std::modf(10 * draw(), &doublings);
    const double edge = std::ldexp(0.0005 * (1 + rest), static_cast<int>(doublings));  // 2^x, piecewise linear
    for (Corner& each : triangle) {
      each = corner(x + edge * draw.between(-0.5, 0.5), y + edge * draw.between(-0.5, 0.5),
                    z + edge * draw.between(-0.5, 0.5));
    }
  }
  return mesh;
}

std::vector<Triangle> subdivide(std::vector<Triangle> triangles, std::uint32_t times) {
  for (std::uint32_t round = 0; round < times; ++round) {
    std::vector<Triangle> finer;
    finer.reserve(4 * triangles.size());
    for (const auto& [a, b, c] : triangles) {
      const Corner ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.push_back({a, ab, ca});
      finer.push_back({ab, b, bc});
      finer.push_back({ca, bc, c});
      finer.push_back({ab, bc, ca});
    }
    triangles = std::move(finer);
  }
  return triangles;
}

}  // namespace allocbench::kd_tree
