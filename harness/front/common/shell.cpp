#include "harness/front/common/shell.hpp"

#include <boost/algorithm/string/replace.hpp>
#include <string_view>

namespace allocbench::front {
namespace {

constexpr std::string_view plain_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+./:,@=";

}  // namespace

std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(plain_letters) == std::string::npos) return word;
  return "'" + boost::replace_all_copy(word, "'", R"('\'')") + "'";
}

std::string quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

}  // namespace allocbench::front
