"""What a config will take on a card, from a kept run of it: seconds of verification, of a round, of cells that fail.

The constants come from the kept logs of an H200 that have every round: 7,705 cells. A round takes 1.6 times the wall time of its samples, as what comes between
them is not in it. A verification takes as long as a round and 0.034 s (least squares). A start of a worker takes 0.2 s in `replay`, whose cells are short.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass

from allocbench import frames, stored
from plots.reference.origins import Origin

_BETWEEN_SAMPLES = 1.6
_VERIFICATION_MORE = 0.034
WORKER = 0.2
_LOST_WORKER = 2.0  # the kill, and a new start without one that waited
_SMALL = 0.05  # unsupported, no memory, a wrong result
_TIMEOUTS = 2  # of a series, after which its other cells are skipped. One that was left out is taken to end as it was feared: by its deadline
_DEADLINE = 5.0  # where the config names none


@dataclass(frozen=True)
class Forecast:
    """Seconds without starts of workers: `once` for verification, `per_round` for one round of all cells, `lost` with cells that fail, at worst."""

    once: float
    per_round: float
    lost: float
    allocators: frozenset[str]

    def seconds(self, rounds: int) -> float:
        return self.once + rounds * self.per_round + self.lost


def of_run(run: Origin) -> Forecast:
    rounds = _logged_rounds(run)
    deadline = (run.today or run.config).get("deadline_s", _DEADLINE)
    once = per_round = lost = 0.0
    late: Counter = Counter()  # by series
    for cell in run.cells:
        if cell["status"] == "timeout" or frames.was_left_out(cell):
            late[cell["series"]] += 1
        elif cell["status"] != "ok":
            lost += _LOST_WORKER if cell["status"] in ("device_fault", "crashed") else _SMALL
        else:
            taken = rounds.get((cell["id"], cell["attempt"])) or [_from_samples(cell)]
            per_round += (seconds := sum(taken) / len(taken))
            once += seconds + _VERIFICATION_MORE
    lost += sum(min(count, _TIMEOUTS) * (deadline + _LOST_WORKER) for count in late.values())
    return Forecast(once, per_round, lost, frozenset(cell["allocator"] for cell in run.cells if cell["status"] != "unsupported"))


def _logged_rounds(run: Origin) -> dict[tuple[str, int], list[float]]:
    """Seconds of the rounds of each attempt; nothing where the log is kept without samples."""
    made = defaultdict(list)
    for line in stored.content_of(run.folder, "events.jsonl").splitlines():
        if line.startswith(b'{"event":"round"'):
            event = json.loads(line)
            made[event["cell"], event["attempt"]].append(event.get("seconds", 0))
    return made


def _from_samples(cell: dict) -> float:
    counts = [sum(phase["rounds"]) / len(phase["rounds"]) for phase in cell["phases"] if phase.get("rounds")]
    return _BETWEEN_SAMPLES * max(counts, default=1) * cell["counters"].get("wall_time", 0)
