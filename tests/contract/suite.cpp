#include "tests/contract/suite.hpp"

namespace allocbench::contract {

Report run_case(const Case& tested, const AllocatorType& type) {
  Report report;
  try {
    tested.run(type, report);
  } catch (const simt::Fault& fault) {
    report.problem(std::string(simt::fault_kind_name(fault.kind())) + ": " + fault.what());
  } catch (const std::exception& error) {
    report.problem(error.what());
  }
  return report;
}

}  // namespace allocbench::contract
