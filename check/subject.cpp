#include "check/subject.hpp"

#include <algorithm>

namespace allocbench::check {

const Subject* SubjectList::find(std::string_view name) const {
  const auto found =
      std::find_if(subjects_.begin(), subjects_.end(), [&](const auto& each) { return each->traits().name == name; });
  return found == subjects_.end() ? nullptr : found->get();
}

}  // namespace allocbench::check
