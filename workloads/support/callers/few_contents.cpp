#include "workloads/support/callers/few_contents.hpp"

#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/verification/content_check.hpp"

namespace allocbench {
namespace {

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

}  // namespace

FewContents check_few_contents(simt::Stream& stream, const RequestProfile& few, const PointerRules& rules,
                               const AllocatorHandle& own) {
  const ContentCheck contents(stream, few.geometry.callers, rules);
  const AllocatorHandle observed = own.observed({}, contents.ledger());
  CallerRequests requests(stream, few.geometry, few.sizes);
  requests.poison();
  requests.alloc(observed);
  requests.free(observed);
  FewContents found{.pointers = PointerCheck(rules), .problem = {}};
  requests.check(found.pointers);
  found.problem = contents.problem();
  found.served = static_cast<std::uint32_t>(found.pointers.blocks() - found.pointers.nulls());
  return found;
}

std::string checked_callers(std::uint32_t served, std::uint32_t all) {
  return served == all ? "checked" : "checked: " + grouped(served) + " of " + grouped(all) + " callers";
}

}  // namespace allocbench
