"""This module forecasts how long a config takes on a card, from a kept run: the seconds of verification, of a round, and of cells
that fail.

The constants come from kept logs of an H200 with all rounds (7,705 cells). In these logs, a round takes 1.6 times the
wall time of its samples, because the gaps between samples count too. A verification takes 0.034 s longer than a round
(least squares). A start of a worker takes 0.2 s in `replay`, whose cells are short.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass

from allocbench import frames, stored
from plots.reference.origins import Origin
from plots.runs import configs

_BETWEEN_SAMPLES = 1.6
_VERIFICATION_MORE = 0.034
WORKER = 0.2
_LOST_WORKER = 2.0  # time to kill a worker and start another one, if no prepared worker waits
_SMALL = 0.05  # time of a cell with the status unsupported, skipped, oom or incorrect
# After this number of timeouts the other cells of a series are skipped. A cell that was left out counts as a timeout.
_TIMEOUTS = 2
_DEADLINE = 60.0  # deadline if the config names none (harness/front/config/config.hpp)


@dataclass(frozen=True)
class Forecast:
    """A forecast gives times in seconds, without the starts of workers.

    `once` is the time of verification, `per_round` the time of one round of all cells, and `lost` the worst time of
    cells that fail.
    """

    once: float
    per_round: float
    lost: float
    allocators: frozenset[str]

    def seconds(self, rounds: int) -> float:
        return self.once + rounds * self.per_round + self.lost


def of_run(run: Origin) -> Forecast:
    rounds = _logged_rounds(run)
    once = per_round = lost = 0.0
    late: Counter = Counter()  # timeouts by series and its allocator
    for cell in run.cells:
        if cell["status"] == "timeout" or frames.was_left_out(cell):
            late[cell["series"], cell["allocator"]] += 1
        elif cell["status"] != "ok":
            lost += _LOST_WORKER if cell["status"] in ("device_fault", "crashed") else _SMALL
        else:
            taken = rounds.get((cell["id"], cell["attempt"])) or [_from_samples(cell)]
            per_round += (seconds := sum(taken) / len(taken))
            once += seconds + _VERIFICATION_MORE
    lost += sum(min(count, _TIMEOUTS) * (_deadline(run, allocator) + _LOST_WORKER) for (_, allocator), count in late.items())
    return Forecast(once, per_round, lost, frozenset(cell["allocator"] for cell in run.cells if cell["status"] != "unsupported"))


def _deadline(run: Origin, allocator: str) -> float:
    """Returns the deadline of an allocator's cells in the current config, or in the stored one if there is no current config."""
    config = configs.effective(run.today, run.backend) if run.today else run.config
    own = config.get("overrides", {}).get(allocator.partition("(")[0], {})
    return own.get("deadline_s", config.get("deadline_s", _DEADLINE))


def _logged_rounds(run: Origin) -> dict[tuple[str, int], list[float]]:
    """Returns the seconds of the rounds of each attempt, or nothing if the kept log has no rounds."""
    made = defaultdict(list)
    for line in stored.content_of(run.folder, "events.jsonl").splitlines():
        if line.startswith(b'{"event":"round"'):
            event = json.loads(line)
            made[event["cell"], event["attempt"]].append(event.get("seconds", 0))
    return made


def _from_samples(cell: dict) -> float:
    counts = [sum(phase["rounds"]) / len(phase["rounds"]) for phase in cell["phases"] if phase.get("rounds")]
    return _BETWEEN_SAMPLES * max(counts, default=1) * cell["counters"].get("wall_time", 0)
