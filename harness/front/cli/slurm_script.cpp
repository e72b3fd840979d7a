#include "harness/front/cli/slurm_script.hpp"

#include <fmt/format.h>

#include <boost/algorithm/string/replace.hpp>

#include "harness/front/cli/study_words.hpp"
#include "harness/front/common/shell.hpp"

namespace allocbench::front {
namespace {

constexpr const char* slurm_script_form = R"script(#!/usr/bin/env bash
# Submits a study of allocbench to a Slurm cluster: {count} shards as one job array, and a job that merges them.
# Options after the script's name go to sbatch:
#   bash SCRIPT --partition=gpu --gres=gpu:1 --time=01:00:00
# To continue unfinished shards, run this script again. All nodes must have access to this folder and to the same
# checkout of allocbench.
set -euo pipefail
if ! command -v sbatch >/dev/null; then
  echo "sbatch was not found. Run this script on a Slurm cluster, or start each shard by hand (--shard)." >&2
  exit 3
fi
if [[ -e {merged} ]]; then
  echo {merged}" already exists. Move it, then run this script again." >&2
  exit 2
fi
mkdir -p {out}
shards=$(sbatch --parsable --array=1-{count} --job-name=allocbench --output={array_log} "$@" <<'END'
#!/usr/bin/env bash
mkdir -p {shard}"$SLURM_ARRAY_TASK_ID"  # --resume needs a folder
exec {study} --shard "$SLURM_ARRAY_TASK_ID"/{count} --out {shard}"$SLURM_ARRAY_TASK_ID"
END
)
shards=${{shards%%;*}}
merge=$(sbatch --parsable --dependency=afterany:"$shards" --job-name=allocbench-merge --output={merge_log} "$@" <<'END'
#!/usr/bin/env bash
exec {merge}
END
)
echo "Submitted the shards as job $shards, and the merge as job ${{merge%%;*}}. Results will be in "{merged}
)script";

// sbatch replaces the letter after a percent sign, so percent signs are doubled.
std::string log_name(const std::string& folder, const char* name) {
  return quoted(boost::replace_all_copy(folder, "%", "%%") + name);
}

std::string study_call(const StudyOptions& study, const std::string& program) {
  std::vector<std::string> words = {program, "study", study.group, "--configs", study.configs};
  for (const std::string& name : study.only) words.insert(words.end(), {"--only", name});
  words.insert(words.end(), {"--no-figures", "--backend", study.run.backend});
  if (study.all_devices) {
    words.insert(words.end(), {"--device", "all"});
  } else if (study.run.device != 0) {
    words.insert(words.end(), {"--device", fmt::format("{}", study.run.device)});
  }
  RunOptions run = study.run;
  run.resume = true;  // a job that is queued again continues
  for (const std::string& word : measuring_words(run)) words.push_back(word);
  if (run.quiet) words.emplace_back("--quiet");
  return quoted(words);
}

}  // namespace

std::string slurm_script(const StudyOptions& study, const std::string& program) {
  const std::string out = study.run.out.empty() ? fmt::format("results/{}-shards", study.group) : study.run.out;
  std::vector<std::string> merge = {program, "merge"};
  for (std::uint64_t index = 1; index <= study.slurm; ++index) merge.push_back(fmt::format("{}/shard-{}", out, index));
  merge.insert(merge.end(), {"--out", out + "/merged"});
  if (study.run.allow_mixed) merge.emplace_back("--allow-mixed");
  return fmt::format(slurm_script_form, fmt::arg("count", study.slurm), fmt::arg("out", quoted(out)),
                     fmt::arg("merged", quoted(out + "/merged")), fmt::arg("array_log", log_name(out, "/shard-%a.log")),
                     fmt::arg("merge_log", log_name(out, "/merge.log")), fmt::arg("study", study_call(study, program)),
                     fmt::arg("shard", quoted(out + "/shard-")), fmt::arg("merge", quoted(merge)));
}

}  // namespace allocbench::front
