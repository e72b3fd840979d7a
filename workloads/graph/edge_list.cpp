#include "workloads/graph/edge_list.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "workloads/support/inputs/data_files.hpp"
#include "workloads/support/parallel/parallel_for.hpp"
#include "workloads/support/random/random.hpp"

namespace allocbench {
namespace {

// Draws one arc of a 2^levels x 2^levels matrix. Each level picks a quadrant by 16 random bits.
Arc draw_arc(std::uint64_t seed, std::uint32_t arc, std::uint32_t attempt, std::uint32_t levels) {
  constexpr std::uint32_t draws_per_block = 8;
  constexpr std::uint32_t blocks_per_attempt = 4;  // 32 levels
  constexpr double a = 0.57, b = 0.19, c = 0.19;
  constexpr double scale = 65536;
  Arc result{0, 0};
  RandomWords random{};
  for (std::uint32_t level = 0; level < levels; ++level) {
    const std::uint32_t draw = level % draws_per_block;
    if (draw == 0) {
      random = random_words(seed, RandomStream::edge_list, arc, attempt * blocks_per_attempt + level / draws_per_block);
    }
    const std::uint32_t bits = random.words[draw / 2] >> draw % 2 * 16 & 0xffff;
    const std::uint32_t down = bits >= (a + b) * scale ? 1 : 0;
    const std::uint32_t right = (bits >= a * scale && bits < (a + b) * scale) || bits >= (a + b + c) * scale ? 1 : 0;
    result.source = result.source << 1 | down;
    result.target = result.target << 1 | right;
  }
  return result;
}

}  // namespace

std::vector<Arc> parse_edge_list(std::string_view text, const std::string& name) {
  std::vector<Arc> arcs;
  std::size_t line = 1;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](std::uint32_t& value) {
    while (at != end && (*at == ' ' || *at == '\t')) ++at;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc()) {
      throw std::invalid_argument(name + ":" + std::to_string(line) + ": expected two vertex ids below 2^32");
    }
    at = next;
  };
  for (; at != end; ++line) {
    Arc arc{};
    number(arc.source);
    number(arc.target);
    if (at != end && *at == '\r') ++at;
    if (at != end && *at++ != '\n') {
      throw std::invalid_argument(name + ":" + std::to_string(line) + ": more than two vertex ids");
    }
    arcs.push_back(arc);
  }
  if (arcs.empty()) throw std::invalid_argument(name + " holds no arc");
  return arcs;
}

std::vector<Arc> read_edge_list(const std::string& name) {
  const std::string file = "graphs/" + name + ".txt.gz";
  return parse_edge_list(read_text_file(find_data_file(file)), file);
}

std::vector<Arc> generate_edge_list(std::uint32_t vertices, std::uint32_t arcs, std::uint64_t seed) {
  std::vector<std::uint32_t> id(vertices);
  std::iota(id.begin(), id.end(), 0u);
  for (std::uint32_t left = vertices; left > 1; --left) {
    std::swap(id[left - 1], id[scale_to(random_words(seed, RandomStream::vertex_order, left).words[0], left)]);
  }
  const auto levels = static_cast<std::uint32_t>(std::bit_width(vertices - 1));
  std::vector<Arc> result(arcs);
  parallel_for(arcs, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      const auto arc = static_cast<std::uint32_t>(at);
      Arc drawn{};
      std::uint32_t attempt = 0;
      do {
        drawn = draw_arc(seed, arc, attempt++, levels);
      } while (drawn.source >= vertices || drawn.target >= vertices);
      result[at] = {id[drawn.source], id[drawn.target]};
    }
  });
  return result;
}

// The unit square is divided into cells at least as wide as the radius. So all neighbours of a point lie in its own
// cell and the eight cells around it.
std::vector<Arc> generate_geometric(std::uint32_t vertices, std::uint64_t seed) {
  const double radius = 0.55 * std::sqrt(std::log(vertices) / vertices);
  const auto cells = std::max<std::int64_t>(1, static_cast<std::int64_t>(1 / radius));
  struct Point {
    double x, y;
  };
  std::vector<Point> points(vertices);
  std::vector<std::vector<std::uint32_t>> members(static_cast<std::size_t>(cells * cells));
  const auto cell_of = [&](double coordinate) { return static_cast<std::int64_t>(coordinate * double(cells)); };
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    const RandomWords random = random_words(seed, RandomStream::points, vertex);
    points[vertex] = {unit_interval(random.words[0]), unit_interval(random.words[1])};
    members[static_cast<std::size_t>(cell_of(points[vertex].y) * cells + cell_of(points[vertex].x))].push_back(vertex);
  }
  std::vector<Arc> arcs;
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    const auto [x, y] = points[vertex];
    for (std::int64_t row = std::max<std::int64_t>(0, cell_of(y) - 1); row < std::min(cells, cell_of(y) + 2); ++row) {
      for (std::int64_t column = std::max<std::int64_t>(0, cell_of(x) - 1); column < std::min(cells, cell_of(x) + 2);
           ++column) {
        for (const std::uint32_t other : members[static_cast<std::size_t>(row * cells + column)]) {
          if (other != vertex && std::hypot(points[other].x - x, points[other].y - y) < radius) {
            arcs.push_back({vertex, other});
          }
        }
      }
    }
  }
  return arcs;
}

void shuffle(std::vector<Arc>& arcs, std::uint64_t seed) {
  for (std::size_t left = arcs.size(); left > 1; --left) {
    const std::uint32_t draw = random_words(seed, RandomStream::arc_order, left).words[0];
    std::swap(arcs[left - 1], arcs[scale_to(draw, static_cast<std::uint32_t>(left))]);
  }
}

std::vector<std::uint32_t> distinct_ids(const std::vector<Arc>& arcs) {
  std::vector<std::uint32_t> ids;
  ids.reserve(2 * arcs.size());
  for (const Arc& arc : arcs) {
    ids.push_back(arc.source);
    ids.push_back(arc.target);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace allocbench
