#include <charconv>

#include "workloads/kd_tree/mesh_builder.hpp"

namespace allocbench::kd_tree {
namespace {

class ObjReader {
 public:
  ObjReader(std::string_view text, const std::string& name) : text_(text), name_(name), mesh_(name) {}

  std::vector<Triangle> read() {
    std::size_t at = 0;
    while (at < text_.size()) {
      ++line_;
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      rest_ = text_.substr(at, end - at);
      if (!rest_.empty() && rest_.back() == '\r') rest_.remove_suffix(1);
      at = end + 1;
      const std::string_view keyword = word();
      if (keyword == "v") {
        const double x = coordinate(), y = coordinate(), z = coordinate();
        mesh_.vertex(x, y, z, [this] { return place(); });  // a weight or a colour may follow
      } else if (keyword == "f") {
        face();
      }
    }
    return mesh_.finish();
  }

 private:
  std::string place() const { return "line " + std::to_string(line_); }

  std::string_view word() {
    const std::size_t begin = std::min(rest_.find_first_not_of(" \t"), rest_.size());
    rest_.remove_prefix(begin);
    const std::string_view result = rest_.substr(0, std::min(rest_.find_first_of(" \t"), rest_.size()));
    rest_.remove_prefix(result.size());
    return result;
  }

  double coordinate() {
    const std::string_view text = word();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      refuse(name_, place(), quoted(text), "three numbers after v");
    }
    return value;
  }

  void face() {
    indices_.clear();
    for (std::string_view text = word(); !text.empty(); text = word()) {
      const std::string_view number = text.substr(0, text.find('/'));
      std::int64_t index = 0;
      const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
      if (error != std::errc() || end != number.data() + number.size() || index == 0) {
        refuse(name_, place(), "the corner " + quoted(text),
               "vertex numbers from 1, or from -1 backwards, each alone or before a /");
      }
      indices_.push_back(index > 0 ? index - 1 : static_cast<std::int64_t>(mesh_.vertices()) + index);
    }
    mesh_.face(indices_, [this] { return place(); });
  }

  std::string_view text_;
  std::string name_;
  MeshBuilder mesh_;
  std::string_view rest_;  // the rest of the line
  std::size_t line_ = 0;
  std::vector<std::int64_t> indices_;
};

}  // namespace

std::vector<Triangle> parse_obj(std::string_view text, const std::string& name) { return ObjReader(text, name).read(); }

}  // namespace allocbench::kd_tree
