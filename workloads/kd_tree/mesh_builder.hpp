// MeshBuilder collects the data of mesh readers, and refuses meshes from which no tree can be built.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

#include "workloads/kd_tree/scene.hpp"

namespace allocbench::kd_tree {

// Larger coordinates could overflow the areas of the split rules.
inline constexpr float largest_coordinate = 1e15f;

// An example of the message is: lost.ply.gz: line 7: found "x", allowed: ...
[[noreturn]] inline void refuse(const std::string& name, const std::string& place, const std::string& found,
                                const std::string& allowed) {
  throw std::invalid_argument(name + ": " + place + ": found " + found + ", allowed: " + allowed);
}

// Returns a word of the file in quotes, for a message.
inline std::string quoted(std::string_view text) {
  if (text.empty()) return "the end of the line";
  return std::string(1, '"').append(text.substr(0, 40)).append(1, '"');
}

class MeshBuilder {
 public:
  explicit MeshBuilder(const std::string& name) : name_(name) {}

  // `place` returns the place in the file for a message. It is called only if there is a mistake.
  template <class Place>
  void vertex(double x, double y, double z, Place&& place) {
    for (const double each : {x, y, z}) {
      if (!(std::abs(each) <= static_cast<double>(largest_coordinate))) {
        refuse(name_, place(), "the coordinate " + std::to_string(each), "finite ones up to 1e15");
      }
    }
    corners_.push_back({static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)});
  }

  // Adds a polygon as a fan of triangles. The vertex numbers start at 0.
  template <class Place>
  void face(const std::vector<std::int64_t>& indices, Place&& place) {
    if (indices.size() < 3) refuse(name_, place(), std::to_string(indices.size()) + " corners", "3 or more");
    for (const std::int64_t index : indices) {
      if (index < 0 || index >= static_cast<std::int64_t>(corners_.size())) {
        refuse(name_, place(), "the vertex number " + std::to_string(index),
               corners_.empty() ? "none, as no vertex precedes it"
                                : "0 to " + std::to_string(corners_.size() - 1) + ", counted from 0");
      }
    }
    for (std::size_t i = 2; i < indices.size(); ++i) {
      triangles_.push_back({corner(indices[0]), corner(indices[i - 1]), corner(indices[i])});
    }
  }

  std::size_t vertices() const { return corners_.size(); }

  std::vector<Triangle> finish() {
    if (triangles_.empty()) throw std::invalid_argument(name_ + ": found no face, allowed: one or more");
    return std::move(triangles_);
  }

 private:
  const Corner& corner(std::int64_t index) const { return corners_[static_cast<std::size_t>(index)]; }

  std::string name_;
  std::vector<Corner> corners_;
  std::vector<Triangle> triangles_;
};

}  // namespace allocbench::kd_tree
