// This file has the options of the verbs that read stored results, and the texts of their help.
#include <CLI/CLI.hpp>

#include "harness/front/cli/app_parts.hpp"
#include "protocol/bounds.hpp"

namespace allocbench::front {
namespace {

void add_report(CLI::App& app, ReportOptions& reporting) {
  CLI::App* verb = app.add_subcommand(
      "report", "Print the table of a run, and rebuild its results.csv and results.json from its log");
  verb->add_option("folder", reporting.paths,
                   "Folder of a run (with events.jsonl or results.json), or a folder above several runs (repeatable). "
                   "--html makes one page of all of them")
      ->required()
      ->type_name("DIR");
  auto* html = verb->add_flag("--html", reporting.html,
                              "Write one HTML page instead of the table. The page ranks allocators for each job, shows "
                              "the evidence and needs no network");
  verb->add_option("-o,--out", reporting.page,
                   "With --html: file of the page (default: report.html in the first folder, or below build/drawn if "
                   "that folder is below results/reference)")
      ->needs(html)
      ->type_name("FILE");
}

// The options are those of `python3 -m plots advise`, which parses and explains them.
void add_advise(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("advise", "Rank allocators for your job, from measured cells");
  verb->set_help_flag();
  verb->prefix_command();
  verb->footer("Options and examples: allocbench advise --help");
}

constexpr const char* compare_footer =
    "Two cells are compared if everything that defines them is equal: allocator, workload, their parameters, pool, "
    "back end, seed, state of heap and cache. Each phase gets a verdict. slower or faster: the times differ by more "
    "than the margin, and probably not by chance (Holm's correction over all phases). same: the 95 % interval lies "
    "within the margin. unsure: neither. A slower phase is a regression, and so is a cell that is "
    "ok in A but not in B.\n"
    "  allocbench compare results/before results/after --fail-on regression\n"
    "  allocbench compare 'results/before/*' 'results/after/*' --markdown\n"
    "If a run was kept without samples, its stored values of three to five rounds or its stored intervals are used.\n"
    "This command shows whether this machine reproduces kept results, and how its card differs:\n"
    "  allocbench compare --with-reference results/reference/h200/guide/small\n"
    "Exit codes: 0: compared; 2: wrong usage, unreadable input or nothing to compare; 4: regression or missing cells "
    "(with --fail-on regression). With --with-reference also 3: no worker, no device or no room for results; 130: "
    "interrupted.";

void add_compare(CLI::App& app, CompareOptions& comparing) {
  CLI::App* verb = app.add_subcommand("compare", "Compare two sets of results and list what became slower or faster");
  verb->footer(compare_footer);
  constexpr const char* kind = "PATH";
  auto* a =
      verb->add_option(
              "A", comparing.a,
              "The results of side A: a folder of runs, an event log, a results.json (packed or not), or a pattern")
          ->type_name(kind);
  auto* b = verb->add_option("B", comparing.b, "The results of side B, given in one of these forms")->type_name(kind);
  auto* reference = verb->add_option("--with-reference", comparing.reference,
                                     "Measure the cheapest cells that are ok in these kept runs, compare the results "
                                     "with the kept ones, and show how this card differs")
                        ->type_name(kind)
                        ->excludes(a)
                        ->excludes(b);
  verb->add_option("-o,--out", comparing.out,
                   "With --with-reference: folder for the new runs (default results/with-reference). An earlier run "
                   "in this folder is continued")
      ->needs(reference)
      ->type_name("DIR");
  verb->add_option("--minutes", comparing.minutes, "With --with-reference: end after M minutes (default on a GPU: 15)")
      ->needs(reference)
      ->check(number_between(0, protocol::longest_seconds / 60))
      ->type_name("M");
  verb->add_flag("--profile", comparing.profile, "With --with-reference: print at the end how the wall time was spent")
      ->needs(reference);
  add_device_option(*verb, comparing.device, "With --with-reference: ")->needs(reference);
  add_workers_option(*verb, comparing.workers);
  verb->add_option(
          "--cells", comparing.cells_per_family,
          "With --with-reference: number of cells to measure for each family of allocators under each workload, "
          "the cheapest ones first (default 6; 0 = all)")
      ->needs(reference)
      ->check(whole_number())
      ->type_name("N");
  auto* fail_on =
      verb->add_option(
              "--fail-on", comparing.fail_on,
              "Exit with code 4 if B has a regression, lacks a cell that is ok in A, or lacks rounds of such a cell")
          ->check(CLI::IsMember({"regression"}))
          ->type_name("regression");
  verb->add_flag("--allow-missing", comparing.allow_missing, "With --fail-on: accept that B lacks cells or rounds")
      ->needs(fail_on);
  verb->add_option("--margin", comparing.margin, "Margin in percent: smaller differences are ignored (default 3)")
      ->check(number_between(0, 1000))
      ->type_name("P");
  verb->add_option("--ignore", comparing.ignored,
                   "Compare cells although KEY differs: seed, state, l2, pool_bytes, workload/NAME, ... (repeatable)")
      ->type_name("KEY");
  verb->add_flag("--all", comparing.all, "Also list phases with the verdict `same` or `unsure`");
  auto* markdown = verb->add_flag("--markdown", comparing.markdown, "Print Markdown");
  verb->add_flag("--json", comparing.json, "Print every phase as JSON, with numbers, intervals and p-values")
      ->excludes(markdown);
}

constexpr const char* merge_footer =
    "The folders may contain shards of a study, studies of different configs, or runs that were continued in another "
    "folder. A log that is damaged, has another format or was kept without samples is reported; the other logs are "
    "merged.\n  "
    "allocbench merge results/shard-1 results/shard-2 --out results/papers\n"
    "Exit codes: 0: merged; 1: merged, but a log could not be read or a shard is missing; 2: wrong usage, or runs that "
    "do not belong together; 3: no room for results.";

void add_merge(CLI::App& app, MergeOptions& merging) {
  CLI::App* verb = app.add_subcommand("merge", "Join folders of runs, such as the shards of a study, into one");
  verb->footer(merge_footer);
  verb->add_option("folders", merging.folders, "Folders of runs: the --out of a run or a study; repeatable")
      ->required()
      ->type_name("DIR");
  verb->add_option("-o,--out", merging.out,
                   "Folder for the results. Each config gets a folder in it. Nothing is overwritten")
      ->required()
      ->type_name("DIR");
  verb->add_flag(
      "--allow-mixed", merging.allow_mixed,
      "Merge runs of different revisions, device models or options of the CPU executor. Every figure then says "
      "so");
}

}  // namespace

void add_result_verbs(CLI::App& app, Options& options) {
  add_report(app, options.report);
  add_advise(app);
  add_compare(app, options.compare);
  add_merge(app, options.merge);
}

}  // namespace allocbench::front
