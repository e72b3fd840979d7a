#!/usr/bin/python3
"""Replaces Nsight Compute in tests: notes how it was called, and writes a raw page as ncu --csv does. The environment
variable FAKE_NCU says how it fails: `nothing` (no kernel in the filter), `refused` (no permission for counters) or
`broken`.
"""

import json
import os
import sys

HEADER = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC",
          "gpu__time_duration.sum", "launch__registers_per_thread", "lts__t_sectors_op_atom.sum", "lts__t_sectors_op_red.sum",
          "sm__warps_active.avg.pct_of_peak_sustained_active",
          "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
          "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
          "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"]
UNITS = [""] * 11 + ["nsecond", "register/thread", "sector", "sector", "%", "inst", "inst", "inst"]
NAME = ("void simt::kernel_entry<allocbench::{}<allocbench::Comb>, allocbench::Comb, unsigned int>"
        "(allocbench::{}<allocbench::Comb>, allocbench::Comb, unsigned int)")
ROWS = [["simt::<unnamed>::hold_kernel(volatile simt::Hold::Words *, unsigned int, unsigned long)", "50,000,000", "16", "0", "0", "1.6", "0", "9", "1"],
        [NAME.format("MallocOnce", "MallocOnce"), "5,824", "40", "2,048", "0", "61.25", "1.5", "6", "1"],
        [NAME.format("FreeAll", "FreeAll"), "2,000", "22", "0", "100", "12.5", "3", "1", "9"]]


def line(cells):
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


def main():
    with open(os.environ["FAKE_NCU_NOTES"], "w", encoding="utf-8") as notes:
        json.dump(sys.argv[1:], notes)
    how = os.environ.get("FAKE_NCU", "")
    with open(sys.argv[sys.argv.index("--log-file") + 1], "w", encoding="utf-8") as table:
        print("==PROF== Connected to process 4711", file=table)
        if how == "refused":
            print("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters", file=table)
            sys.exit(1)
        if how == "nothing":
            print("==WARNING== No kernels were profiled.", file=table)
            return
        print("last sample: alloc 5.8 us")
        print(line(HEADER), file=table)
        print(line(UNITS[:5] if how == "no units" else UNITS), file=table)
        for number, (name, *values) in enumerate(ROWS):
            row = [str(number), "1", "worker", "host", name, "1", "7", "(256, 1, 1)", "(4, 1, 1)", "0", "9.0", *values]
            print(line(row[:5] if how == "broken" else row), file=table)


main()
