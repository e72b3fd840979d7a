// Members of a command, a JSON object on a line. Everything wrong with one is a BadCommand.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace allocbench::worker {

// A command or an argument that does not follow harness/README.md.
class BadCommand : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

nlohmann::json parse_command(const std::string& line);
const nlohmann::json& member(const nlohmann::json& command, const char* name);
std::string text_member(const nlohmann::json& command, const char* name);
std::uint64_t count_member(const nlohmann::json& command, const char* name);
std::uint64_t count_member_or(const nlohmann::json& command, const char* name, std::uint64_t otherwise);

}  // namespace allocbench::worker
