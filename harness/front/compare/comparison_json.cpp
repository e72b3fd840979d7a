// This file prints the comparison as JSON, for programs. harness/README.md describes the members.
#include <nlohmann/json.hpp>

#include "harness/front/compare/comparison.hpp"
#include "harness/front/compare/families.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

Json side_json(const Side& side) {
  return {{"argument", side.argument}, {"figures", side.figures},           {"devices", side.devices},
          {"cards", side.cards},       {"drivers", side.drivers},           {"revisions", side.revisions},
          {"dirty", side.dirty},       {"not_measured", side.not_measured}, {"cells", side.cells.size()}};
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json();
}

Json estimate_json(const Estimate& estimate, std::size_t rounds) {
  const auto half_width = estimate.relative_half_width();
  return {{"seconds", estimate.centre},
          {"interval", interval_json(estimate.interval)},
          {"relative_half_width", half_width ? Json(*half_width) : Json()},
          {"rounds", rounds}};
}

Json phase_json(const PhaseComparison& phase) {
  Json json = {{"name", phase.phase},
               {"verdict", word(phase.verdict)},
               {"reason", phase.reason},
               {"a", estimate_json(phase.a, phase.rounds_of_a)},
               {"b", estimate_json(phase.b, phase.rounds_of_b)},
               {"from_stored_intervals", phase.from_intervals}};
  json["ratio"] = phase.effect ? Json(phase.effect->ratio) : Json();
  json["interval"] = phase.effect ? interval_json(phase.effect->interval) : Json();
  json["chance"] = phase.effect ? Json(phase.effect->chance) : Json();
  json["adjusted_chance"] = phase.effect ? Json(phase.adjusted_chance) : Json();
  return json;
}

Json cell_json(const CellComparison& cell) {
  Json phases = Json::array();
  for (const PhaseComparison& phase : cell.phases) phases.push_back(phase_json(phase));
  return {{"id", cell.a->id},
          {"name", cell.a->name},
          {"allocator", cell.a->allocator},
          {"status", {{"a", word(cell.a->status)}, {"b", word(cell.b->status)}}},
          {"provisional", {{"a", cell.a->provisional}, {"b", cell.b->provisional}}},
          {"reason", {{"a", cell.a->reason}, {"b", cell.b->reason}}},
          {"phases", std::move(phases)}};
}

Json families_json(const std::vector<FamilyRatio>& families) {
  Json list = Json::array();
  for (const FamilyRatio& each : families) {
    list.push_back({{"kind", each.kind},
                    {"name", each.name},
                    {"cells", each.cells},
                    {"median_ratio", each.median},
                    {"quartiles", interval_json(each.quartiles)}});
  }
  return list;
}

Json names_json(const std::vector<const ComparedCell*>& cells) {
  Json list = Json::array();
  for (const ComparedCell* cell : cells) {
    list.push_back(
        {{"id", cell->id}, {"name", cell->name}, {"status", word(cell->status)}, {"provisional", cell->provisional}});
  }
  return list;
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  Json cells = Json::array();
  for (const CellComparison& cell : comparison.cells) cells.push_back(cell_json(cell));
  const Json document = {{"format", 1},
                         {"a", side_json(comparison.a)},
                         {"b", side_json(comparison.b)},
                         {"margin", comparison.margin},
                         {"confidence", confidence},
                         {"correction", "Holm"},
                         {"tests", comparison.tested()},
                         {"from_stored_intervals", comparison.from_intervals()},
                         {"verdicts",
                          {{"slower", comparison.count(Verdict::slower)},
                           {"faster", comparison.count(Verdict::faster)},
                           {"same", comparison.count(Verdict::same)},
                           {"unsure", comparison.count(Verdict::unsure)}}},
                         {"no_longer_ok", comparison.worse_statuses()},
                         {"regression", comparison.regression()},
                         {"missing", names_json(comparison.missing)},
                         {"families", families_json(ratios_by_family(comparison))},
                         {"cells", cells},
                         {"only_in_a", names_json(comparison.only_in_a)},
                         {"only_in_b", names_json(comparison.only_in_b)}};
  return document.dump(1) + "\n";
}

}  // namespace allocbench::front
