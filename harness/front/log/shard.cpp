#include "harness/front/log/shard.hpp"

#include <fmt/format.h>

#include <boost/lexical_cast/try_lexical_convert.hpp>
#include <nlohmann/json.hpp>

#include "harness/front/common/limits.hpp"
#include "protocol/json_members.hpp"

namespace allocbench::front {
namespace {

bool is_valid(const Shard& shard) {
  return shard.index >= 1 && shard.index <= shard.count && shard.count <= limits::shards;
}

}  // namespace

std::string Shard::text() const { return fmt::format("{}/{}", index, count); }

std::optional<Shard> parse_shard(const std::string& text) {
  Shard shard;
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || text.find_first_not_of("0123456789/") != std::string::npos) return std::nullopt;
  const bool numbers = boost::conversion::try_lexical_convert(text.substr(0, slash), shard.index) &&
                       boost::conversion::try_lexical_convert(text.substr(slash + 1), shard.count);
  return numbers && is_valid(shard) ? std::optional(shard) : std::nullopt;
}

nlohmann::ordered_json to_json(const Shard& shard) {
  return {{"index", shard.index}, {"count", shard.count}, {"partition", shard.partition}, {"configs", shard.configs}};
}

std::optional<Shard> shard_of_run(const nlohmann::ordered_json& event) {
  if (protocol::optional_member(event, "shard") == nullptr) return std::nullopt;
  const auto& json = protocol::object_member(event, "shard");
  const Shard shard{protocol::count_member(json, "index"), protocol::count_member(json, "count"),
                    protocol::text_member(json, "partition"), protocol::count_member_or(json, "configs", 0)};
  if (!is_valid(shard)) throw protocol::Malformed(fmt::format("there is no shard {}", shard.text()));
  return shard;
}

}  // namespace allocbench::front
