// The options of the verbs that read stored results, and the texts of their help.
#include <CLI/CLI.hpp>

#include "harness/front/cli/app_parts.hpp"
#include "protocol/bounds.hpp"

namespace allocbench::front {
namespace {

void add_report(CLI::App& app, ReportOptions& reporting) {
  CLI::App* verb =
      app.add_subcommand("report", "Print the table of a run; rebuild its results.csv and results.json from its log");
  verb->add_option("folder", reporting.paths,
                   "The folder of a run (its --out; it holds events.jsonl or results.json), or a folder above several "
                   "runs; repeatable. "
                   "--html makes one page of all of them")
      ->required()
      ->type_name("DIR");
  auto* html = verb->add_flag("--html", reporting.html,
                              "Instead of the table, write one HTML page that needs no network: which allocator for "
                              "which job, and the evidence");
  verb->add_option("-o,--out", reporting.page, "With --html: the page (default report.html in the first folder)")
      ->needs(html)
      ->type_name("FILE");
}

// Its options are those of `python3 -m plots advise`, which reads and explains them.
void add_advise(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("advise", "Which allocator for my job? A ranked list from measured cells");
  verb->set_help_flag();
  verb->prefix_command();
  verb->footer("Options and examples: allocbench advise --help");
}

constexpr const char* compare_footer =
    "Two cells are compared if everything that defines them is equal: allocator, workload, their parameters, pool, "
    "seed, state of heap and cache. Verdicts per phase: slower or faster (by more than the margin, and not by chance: "
    "Holm's correction over all phases), same (the 95 % interval lies within the margin) or unsure. A cell that is ok "
    "in A but not in B is a regression.\n"
    "  allocbench compare results/before results/after --fail-on regression\n"
    "  allocbench compare 'results/before/*' 'results/after/*' --markdown\n"
    "Runs that were kept without samples are compared by their stored intervals.\n"
    "Does this machine reproduce kept results, and how do the cards differ?\n"
    "  allocbench compare --with-reference results/reference/h200/guide/small\n"
    "Exit codes: 0 compared, 2 usage, unreadable input or nothing that could be compared, 4 regression or missing "
    "cells (with --fail-on regression).";

void add_compare(CLI::App& app, CompareOptions& comparing) {
  CLI::App* verb = app.add_subcommand("compare", "Compare two sets of results: what got slower or faster");
  verb->footer(compare_footer);
  constexpr const char* kind = "PATH";
  auto* a =
      verb->add_option("A", comparing.a, "Folder of runs, event log or results.json (packed or not), or a pattern")
          ->type_name(kind);
  auto* b = verb->add_option("B", comparing.b, "The results to compare with A, named likewise")->type_name(kind);
  auto* reference =
      verb->add_option("--with-reference", comparing.reference,
                       "Measure the cheapest cells that are ok in these kept runs, compare the results with them, and "
                       "say how this card differs")
          ->type_name(kind)
          ->excludes(a)
          ->excludes(b);
  verb->add_option(
          "-o,--out", comparing.out,
          "With --with-reference: folder for the new runs (default results/with-reference); a run in it is continued")
      ->needs(reference)
      ->type_name("DIR");
  verb->add_option("--minutes", comparing.minutes, "With --with-reference: end after this time (default on a GPU: 15)")
      ->needs(reference)
      ->check(CLI::Range(0.0, protocol::longest_seconds / 60).description(""))
      ->type_name("M");
  verb->add_flag("--profile", comparing.profile, "With --with-reference: print at the end where the wall time went")
      ->needs(reference);
  add_device_option(*verb, comparing.device, "With --with-reference: ")->needs(reference);
  add_workers_option(*verb, comparing.workers);
  verb->add_option("--cells", comparing.cells_per_family,
                   "With --with-reference: measure the cheapest N cells of each family of allocators under each "
                   "workload (default 6; 0 = all)")
      ->needs(reference)
      ->type_name("N");
  auto* fail_on = verb->add_option("--fail-on", comparing.fail_on,
                                   "Exit with code 4 if B has a regression, or lacks cells that are ok in A")
                      ->check(CLI::IsMember({"regression"}))
                      ->type_name("regression");
  verb->add_flag("--allow-missing", comparing.allow_missing,
                 "With --fail-on: do not fail because B lacks cells, or rounds of them")
      ->needs(fail_on);
  verb->add_option("--margin", comparing.margin, "Ignore differences up to so many percent (default 3)")
      ->check(CLI::Range(0.0, 1000.0))
      ->type_name("P");
  verb->add_option(
          "--ignore", comparing.ignored,
          "Compare cells although they differ in this: seed, state, l2, pool_bytes, workload/NAME, ... (repeatable)")
      ->type_name("KEY");
  verb->add_flag("--all", comparing.all, "Also list phases that are the same or unsure");
  auto* markdown = verb->add_flag("--markdown", comparing.markdown, "Print Markdown");
  verb->add_flag("--json", comparing.json, "Print JSON: every phase with numbers, intervals and p-values")
      ->excludes(markdown);
}

constexpr const char* merge_footer =
    "The folders may be of several shards of a study, of studies of different configs, or of runs that were continued "
    "in another folder. A log that is damaged or has another format is named with its line, and the others are merged "
    "nevertheless.\n"
    "  allocbench merge results/shard-1 results/shard-2 --out results/papers\n"
    "Exit codes: 0 merged, 1 merged without what could not be read or is missing, 2 usage, or runs that do not belong "
    "together.";

void add_merge(CLI::App& app, MergeOptions& merging) {
  CLI::App* verb = app.add_subcommand("merge", "Join folders of runs, as of the shards of a study, into one");
  verb->footer(merge_footer);
  verb->add_option("folders", merging.folders, "Folders of runs: the --out of a run or a study; repeatable")
      ->required()
      ->type_name("DIR");
  verb->add_option("-o,--out", merging.out, "Folder that gets one folder per config; nothing in it is overwritten")
      ->required()
      ->type_name("DIR");
  verb->add_flag("--allow-mixed", merging.allow_mixed,
                 "Merge runs of several revisions or models of devices. Every figure says so");
}

}  // namespace

void add_result_verbs(CLI::App& app, Options& options) {
  add_report(app, options.report);
  add_advise(app);
  add_compare(app, options.compare);
  add_merge(app, options.merge);
}

}  // namespace allocbench::front
