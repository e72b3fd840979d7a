"""This module plans a reference study: commands that each measure some configs of one group on one card, within a limit of forecast
minutes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import mean
from typing import Sequence

from plots.reference import mixes, study_file
from plots.reference.forecast import WORKER, Forecast, of_run
from plots.reference.mixes import GROUPS, Groups
from plots.reference.origins import Origin, by_study, config_file, shown
from plots.runs import configs
from plots.sheet import grid, quantity

MINUTES = 9.0


@dataclass
class Piece:
    """A piece has configs of one group that share their workers. All have the same options of the CPU executor."""

    rounds: int
    executor: str = ""
    configs: dict[str, Forecast] = field(default_factory=dict)

    @property
    def minutes(self) -> float:
        allocators = frozenset().union(*(each.allocators for each in self.configs.values()))
        return (sum(each.seconds(self.rounds) for each in self.configs.values()) + WORKER * self.rounds * len(allocators)) / 60


@dataclass
class Plan:
    """A plan has the pieces of one group."""

    name: str
    command: str  # beginning of each piece's command; the whole command for a config outside of the groups
    backend: str
    pieces: list[Piece]
    guessed: list[str]  # configs without kept results
    times: int = 1  # how often the command measures its config
    is_whole_group: bool = False  # whether there is one piece, which has all configs of the group

    @property
    def minutes(self) -> float:
        return self.times * sum(piece.minutes for piece in self.pieces)

    @property
    def lost(self) -> float:
        return self.times * sum(each.lost for piece in self.pieces for each in piece.configs.values()) / 60


def plans(groups: Groups, minutes: float, rounds: int, revision: str = "") -> list[Plan]:
    """Returns the plans of the study's groups. For a reference study, it adds the groups that the study lacks. With
    `revision`, it leaves out configs that need no new measurement.
    """
    forecasts = {name: {run.name: of_run(run) for run in group} for name, group in groups.items()}
    # The command of aa also measures the configs aa_*.
    more = [name for name in groups if name not in GROUPS and not study_file.is_aa(name)]
    names = [*GROUPS, *more] if mixes.is_reference(groups) else list(groups)
    everything = [each for group in forecasts.values() for each in group.values()]
    return [_plan(name, groups, forecasts.get(name, {}), everything, minutes, rounds, revision) for name in names]


def _is_whole(runs: Sequence[Origin], revision: str) -> bool:
    """Returns whether these runs need no new measurement if all results must have this revision."""
    return all(run.revisions == [revision] and not (run.is_dirty or run.has_changed or run.left_out or (run.judges_times and run.cut_short)) for run in runs)


def _plan(name: str, groups: Groups, known: dict[str, Forecast], everything: list[Forecast], minutes: float, rounds: int, revision: str) -> Plan:
    group = groups.get(name, [])
    whole = {config for config in known if _is_whole([run for run in group if run.name == config], revision)}
    wanted = study_file.configs_of(name) if mixes.is_reference(groups) else [run.name for run in group]
    guessed = [config for config in dict.fromkeys(wanted) if config not in known]
    usual = _usual(list(known.values()) or everything)
    executors = {run.name: run.executor for run in group}
    due = {config: known.get(config, usual) for config in dict.fromkeys(wanted) if config not in whole}
    pieces = [piece for executor in sorted({executors.get(config, "") for config in due})
              for piece in packed({config: each for config, each in due.items() if executors.get(config, "") == executor}, minutes, rounds, executor)]
    backend = next(run.backend for each in groups.values() for run in each)
    if wanted == [name]:
        return Plan(name, study_file.again_and_again(mixes.study_of(groups), name, len(group) or 6), backend, pieces, guessed, len(group) or 6)
    is_whole_group = len(pieces) == 1 and {*wanted, *study_file.configs_of(name)} - {name} == set(due)
    return Plan(name, study_file.study_command(name), backend, pieces, guessed, is_whole_group=is_whole_group)


def _usual(known: Sequence[Forecast]) -> Forecast:
    """Returns the average of these forecasts, for configs without results."""
    seconds = (mean(getattr(each, part) for each in known) for part in ("once", "per_round", "lost"))
    return Forecast(*seconds, max((each.allocators for each in known), key=len))


def packed(forecasts: dict[str, Forecast], minutes: float, rounds: int, executor: str = "") -> list[Piece]:
    """Puts each config, the longest first, into the first piece with room for it. A config that fits into no piece gets
    a piece of its own.
    """
    made: list[Piece] = []
    for name, forecast in sorted(forecasts.items(), key=lambda each: (-each[1].seconds(rounds), each[0])):
        fitting = next((piece for piece in made if replace(piece, configs={**piece.configs, name: forecast}).minutes <= minutes), None)
        if fitting is None:
            made.append(fitting := Piece(rounds, executor))
        fitting.configs[name] = forecast
    return made


def text(found: Sequence[Origin], minutes: float, rounds: int, revision: str = "") -> str:
    parts = []
    for study, groups in by_study(found).items():
        made = plans(groups, minutes, rounds, revision)
        without = f", without configs that need no new measurement at revision {revision}" if revision else ""
        parts.append(f"# {shown(study)}: {rounds} rounds of every cell, pieces of at most {minutes:g} minutes{without}\n\n{_totals(made, minutes)}")
        parts += [_commands(plan, minutes) for plan in made if plan.pieces]
        parts.append(f"# At the end, for all pieces:\nbuild/bin/allocbench merge results/pieces/* --out results/{study.name}\n{_warnings(made, groups, rounds)}")
    return "\n".join(parts)


def _totals(made: Sequence[Plan], minutes: float) -> str:
    rows = [[plan.name, str(sum(len(piece.configs) for piece in plan.pieces)), str(_commands_of(plan, minutes)), f"{plan.minutes:.1f}", f"{plan.lost:.1f}"]
            for plan in made]
    total = [["all", *(str(sum(int(row[column]) for row in rows)) for column in (1, 2)), f"{sum(plan.minutes for plan in made):.1f}",
              f"{sum(plan.lost for plan in made):.1f}"]]
    return grid.markdown(grid.Grid(("group", "configs", "commands", "minutes of one card", "of these with cells that fail, at worst"), rows + total))


def _commands_of(plan: Plan, minutes: float) -> int:
    return plan.times * len(plan.pieces) if plan.times > 1 else sum(_calls(piece, minutes) for piece in plan.pieces)


def _calls(piece: Piece, minutes: float) -> int:
    return max(1, math.ceil(piece.minutes / minutes))


def _commands(plan: Plan, minutes: float) -> str:
    lines = []
    for number, piece in enumerate(plan.pieces, 1):
        calls = _calls(piece, minutes)
        again = f", {calls} times on one card" if calls > 1 else ""
        lines.append(f"# {plan.name}, piece {number} of {len(plan.pieces)}: {piece.minutes:.1f} minutes{again if plan.times == 1 else ' a run'}")
        if plan.times > 1:
            lines.append(plan.command)
            continue
        only = "" if plan.is_whole_group else "".join(f" --only {name}" for name in sorted(piece.configs))
        bound = math.ceil(min(piece.minutes, minutes))
        options = f"{plan.backend} {piece.executor}".strip()
        out = f"results/pieces/{plan.name}-{number}"
        # --resume needs a folder, so that a mistyped --out starts no new run.
        lines.append(f"mkdir -p {out} && {plan.command}{only} --backend {options} --minutes {bound} --resume --no-figures --out {out}")
    return "\n".join(lines) + "\n"


def _warnings(made: Sequence[Plan], groups: Groups, rounds: int) -> str:
    """Describes what the forecast cannot know, and which configs ask for fewer rounds."""
    guessed = [config for plan in made for config in plan.guessed]
    changed = [run.name for group in groups.values() for run in group if run.has_changed]
    names = [name for plan in made for piece in plan.pieces for name in piece.configs]
    fewer = [name for name in names if (path := config_file(name)) and configs.effective(configs.read(path), made[0].backend).get("rounds", rounds) < rounds]
    told = ((guessed, "have no kept results and count as the average of their group"), (changed, "define other measurements than the kept results behind the forecast"),
            (fewer, f"ask for fewer than {rounds} rounds (`rounds`)"))
    return "".join(f"# {quantity.counted(len(names), 'config')} {words}: {', '.join(sorted(names))}\n" for names, words in told if names)
