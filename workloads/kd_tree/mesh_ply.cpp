#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include "workloads/kd_tree/mesh_builder.hpp"

namespace allocbench::kd_tree {
namespace {

static_assert(std::endian::native == std::endian::little, "binary values are copied as they are");

enum class Type { i8, u8, i16, u16, i32, u32, f32, f64 };

std::optional<Type> type_named(std::string_view word) {
  constexpr std::pair<std::string_view, Type> names[] = {
      {"char", Type::i8},   {"int8", Type::i8},     {"uchar", Type::u8},   {"uint8", Type::u8},
      {"short", Type::i16}, {"int16", Type::i16},   {"ushort", Type::u16}, {"uint16", Type::u16},
      {"int", Type::i32},   {"int32", Type::i32},   {"uint", Type::u32},   {"uint32", Type::u32},
      {"float", Type::f32}, {"float32", Type::f32}, {"double", Type::f64}, {"float64", Type::f64}};
  for (const auto& [name, type] : names) {
    if (name == word) return type;
  }
  return std::nullopt;
}
constexpr const char* type_names = "char, uchar, short, ushort, int, uint, float, double";

struct Property {
  std::string name;
  Type type;
  std::optional<Type> length;  // the type of the length, if the property is a list
};

struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;

  // Returns the index of the property, or nothing if there is none.
  std::optional<std::size_t> find(std::string_view wanted) const {
    for (std::size_t i = 0; i < properties.size(); ++i) {
      if (properties[i].name == wanted) return i;
    }
    return std::nullopt;
  }
};

class PlyReader {
 public:
  PlyReader(std::string_view text, const std::string& name) : text_(text), name_(name), mesh_(name) {}

  std::vector<Triangle> read() {
    read_header();
    for (const Element& element : elements_) {
      if (element.name == "vertex") {
        read_vertices(element);
      } else if (element.name == "face") {
        read_faces(element);
      } else {
        for (std::uint64_t i = 0; i < element.count; ++i) read_record(element);
      }
    }
    if (at_ != text_.size() && text_.find_first_not_of(" \t\r\n", at_) != std::string_view::npos) {
      refuse(name_, place(), std::to_string(text_.size() - at_) + " bytes after the last element", "none");
    }
    return mesh_.finish();
  }

 private:
  // Text is read by lines, binary data by bytes.
  std::string place() const { return in_text_ ? "line " + std::to_string(line_) : "byte " + std::to_string(at_); }

  void read_header() {
    if (next_line() != "ply") refuse(name_, place(), "another start", "ply, or an OBJ file named .obj");
    bool format_given = false;
    for (;;) {
      rest_ = next_line();
      const std::string_view keyword = word();
      if (keyword == "end_header") break;
      if (keyword == "format") {
        const std::string_view format = word();
        if ((format != "ascii" && format != "binary_little_endian") || word() != "1.0") {
          refuse(name_, place(), "format " + quoted(format), "ascii 1.0, binary_little_endian 1.0");
        }
        binary_ = format != "ascii";
        format_given = true;
      } else if (keyword == "element") {
        read_element();
      } else if (keyword == "property") {
        read_property();
      } else if (keyword != "comment" && keyword != "obj_info") {
        refuse(name_, place(), quoted(keyword), "format, comment, obj_info, element, property, end_header");
      }
    }
    if (!format_given) refuse(name_, place(), "no format", "format ascii 1.0, format binary_little_endian 1.0");
    in_text_ = !binary_;
  }

  void read_element() {
    Element element;
    element.name = word();
    const std::string_view count = word();
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), element.count);
    if (element.name.empty() || error != std::errc() || end != count.data() + count.size() ||
        element.count > text_.size()) {
      refuse(name_, place(), "the count " + quoted(count) + " of element " + quoted(element.name),
             "a number of records that the file can hold");
    }
    elements_.push_back(std::move(element));
  }

  void read_property() {
    if (elements_.empty()) refuse(name_, place(), "a property before any element", "element first");
    Property property{};
    std::string_view type = word();
    if (type == "list") {
      const std::string_view length = word();
      property.length = known_type(length);
      if (*property.length == Type::f32 || *property.length == Type::f64) {
        refuse(name_, place(), quoted(length) + " as the length of a list", "integer types");
      }
      type = word();
    }
    property.type = known_type(type);
    property.name = word();
    if (property.name.empty()) refuse(name_, place(), "a property without a name", "property TYPE NAME");
    elements_.back().properties.push_back(std::move(property));
  }

  Type known_type(std::string_view text) const {
    const std::optional<Type> type = type_named(text);
    if (!type) refuse(name_, place(), "the type " + quoted(text), type_names);
    return *type;
  }

  void read_vertices(const Element& element) {
    const auto x = scalar_of(element, "x"), y = scalar_of(element, "y"), z = scalar_of(element, "z");
    for (std::uint64_t i = 0; i < element.count; ++i) {
      read_record(element);
      mesh_.vertex(scalars_[x], scalars_[y], scalars_[z], [this] { return place(); });
    }
  }

  std::size_t scalar_of(const Element& element, const char* name) const {
    const auto index = element.find(name);
    if (!index || element.properties[*index].length) {
      refuse(name_, "header", std::string("no number ") + name + " in element vertex", "x, y and z");
    }
    return *index;
  }

  void read_faces(const Element& element) {
    auto list = element.find("vertex_indices");
    if (!list) list = element.find("vertex_index");
    if (!list || !element.properties[*list].length) {
      refuse(name_, "header", "no list of vertices in element face", "property list ... vertex_indices");
    }
    kept_list_ = *list;
    for (std::uint64_t i = 0; i < element.count; ++i) {
      read_record(element);
      mesh_.face(indices_, [this] { return place(); });
    }
  }

  // Reads all properties of a record: numbers into scalars_, the list `kept_list_` into indices_.
  void read_record(const Element& element) {
    if (!binary_) rest_ = next_line();
    scalars_.resize(element.properties.size());
    for (std::size_t i = 0; i < element.properties.size(); ++i) {
      const Property& property = element.properties[i];
      if (!property.length) {
        scalars_[i] = number(property.type);
        continue;
      }
      const double length = number(*property.length);
      constexpr double longest = 1u << 31;
      if (!(length >= 0 && length <= longest)) {
        const std::string count = length > longest ? "more than 2^31" : std::to_string(length);
        refuse(name_, place(), "a list of " + count + " values", "0 to 2^31");
      }
      if (i == kept_list_) indices_.clear();
      for (auto left = static_cast<std::uint32_t>(length); left != 0; --left) {
        const double value = number(property.type);
        if (i == kept_list_) indices_.push_back(static_cast<std::int64_t>(value));
      }
    }
    if (!binary_ && !word().empty()) refuse(name_, place(), "more values than properties", "one line per record");
  }

  double number(Type type) {
    if (!binary_) return written_number();
    switch (type) {
      case Type::i8:
        return packed<std::int8_t>();
      case Type::u8:
        return packed<std::uint8_t>();
      case Type::i16:
        return packed<std::int16_t>();
      case Type::u16:
        return packed<std::uint16_t>();
      case Type::i32:
        return packed<std::int32_t>();
      case Type::u32:
        return packed<std::uint32_t>();
      case Type::f32:
        return static_cast<double>(packed<float>());
      case Type::f64:
        return packed<double>();
    }
    return 0;
  }

  template <class T>
  T packed() {
    if (text_.size() - at_ < sizeof(T)) {
      refuse(name_, place(), "the end of the file within a record", "as many records as the header says");
    }
    T value;
    std::memcpy(&value, text_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  double written_number() {
    const std::string_view text = word();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      refuse(name_, place(), quoted(text), "a number for every property");
    }
    return value;
  }

  std::string_view next_line() {
    if (at_ >= text_.size()) refuse(name_, place(), "the end of the file", "another line");
    ++line_;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    at_ = std::min(end + 1, text_.size());
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

  std::string_view word() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
    const std::string_view result = rest_.substr(0, std::min(rest_.find_first_of(" \t"), rest_.size()));
    rest_.remove_prefix(result.size());
    return result;
  }

  std::string_view text_;
  std::string name_;
  MeshBuilder mesh_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  bool in_text_ = true;
  bool binary_ = false;
  std::string_view rest_;  // the rest of the line
  std::vector<Element> elements_;
  std::vector<double> scalars_;
  std::vector<std::int64_t> indices_;
  std::size_t kept_list_ = 0;
};

}  // namespace

std::vector<Triangle> parse_ply(std::string_view text, const std::string& name) { return PlyReader(text, name).read(); }

}  // namespace allocbench::kd_tree
