#include "simt/cpu/search/schedule.hpp"

#include <charconv>
#include <utility>

#include "simt/common.hpp"

namespace simt {
namespace {

constexpr std::string_view version = "v1:";

std::string hexadecimal(std::uint64_t value) {
  char digits[16];
  return {digits, std::to_chars(digits, digits + sizeof digits, value, 16).ptr};
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return position_ == text_.size(); }
  bool accept(char wanted) {
    const bool found = !at_end() && text_[position_] == wanted;
    position_ += found ? 1 : 0;
    return found;
  }
  void expect(std::string_view wanted) {
    if (text_.substr(position_, wanted.size()) != wanted) fail(std::string(wanted).append(" expected"));
    position_ += wanted.size();
  }
  template <class T>
  T number(int base = 10) {
    T value{};
    const auto [end, error] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value, base);
    if (error != std::errc()) fail(base == 10 ? "number expected" : "hexadecimal number expected");
    position_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Fault(FaultKind::environment, "schedule, column " + std::to_string(position_ + 1) + ": " + what);
  }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

Decision parse_decision(Reader& reader) {
  Decision decision;
  decision.lane = reader.accept('r') ? no_lane : reader.number<std::uint64_t>();
  reader.expect(".");
  decision.step = reader.number<std::uint32_t>();
  if (reader.accept('.')) decision.question = reader.number<std::uint32_t>();
  if (reader.accept('s')) {
    decision.kind = Decision::Kind::go_on_with;
    decision.value = reader.number<std::uint64_t>();
  } else if (reader.accept('g')) {
    decision.kind = Decision::Kind::group;
    decision.value = reader.number<LaneMask>(16);
  } else if (reader.accept('i')) {
    decision.kind = Decision::Kind::leave_at_once;
  } else if (reader.accept('h')) {
    decision.kind = Decision::Kind::hold_store;
    decision.value = reader.number<std::uint32_t>();
  } else if (reader.accept('o')) {
    decision.kind = Decision::Kind::read_old;
    decision.value = reader.number<std::uint32_t>();
  } else {
    reader.fail("s, g, i, h or o expected");
  }
  return decision;
}

}  // namespace

std::string to_text(const Schedule& schedule) {
  std::string text(version);
  text.append(std::to_string(schedule.seed)).append(":");
  std::uint32_t launch = 0;
  const char* separator = "";
  for (const Decision& decision : schedule.decisions) {
    text += std::exchange(separator, ",");
    if (decision.launch != launch) {
      launch = decision.launch;
      text.append("@").append(std::to_string(launch)).append(",");
    }
    text.append(decision.lane == no_lane ? "r" : std::to_string(decision.lane));
    text.append(".").append(std::to_string(decision.step));
    if (decision.question != 0) text.append(".").append(std::to_string(decision.question));
    switch (decision.kind) {
      case Decision::Kind::go_on_with:
        text.append("s").append(std::to_string(decision.value));
        break;
      case Decision::Kind::leave_at_once:
        text.append("i");
        break;
      case Decision::Kind::hold_store:
        text.append("h").append(std::to_string(decision.value));
        break;
      case Decision::Kind::read_old:
        text.append("o").append(std::to_string(decision.value));
        break;
      case Decision::Kind::group:
        text.append("g").append(hexadecimal(decision.value));
        break;
    }
  }
  return text;
}

Schedule parse_schedule(std::string_view text) {
  Reader reader(text);
  reader.expect(version);
  Schedule schedule;
  schedule.seed = reader.number<std::uint64_t>();
  reader.expect(":");
  std::uint32_t launch = 0;
  while (!reader.at_end()) {
    if (reader.accept('@')) {
      launch = reader.number<std::uint32_t>();
    } else {
      schedule.decisions.push_back(parse_decision(reader));
      schedule.decisions.back().launch = launch;
    }
    if (!reader.at_end()) reader.expect(",");
  }
  return schedule;
}

}  // namespace simt
