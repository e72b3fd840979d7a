"""This module describes where numbers come from: back end, device, driver, date and revision. Every figure of a run has this
text.
"""

from __future__ import annotations

from collections import Counter
from typing import Sequence

from allocbench.errors import UsageError
from plots.runs import labels
from plots.runs.results import Run
from plots.sheet import quantity
from plots.sheet.page import Heading

NO_DEVICE = "device unknown"  # a run without a measured cell names no device
CPU_BANNER = "CPU executor: not GPU performance"


def heading(run: Run, title: str, caption: Sequence[str]) -> Heading:
    subtitle = " · ".join(text for text in (run.config.get("paper", ""), run.kept_as) if text)
    return Heading(title, subtitle, tuple(caption), lines(run), CPU_BANNER if run.backend == "cpu" else "")


def title(run: Run) -> str:
    return run.plot.get("title") or run.config.get("description") or run.name


def lines(run: Run) -> tuple[str, ...]:
    """Returns short lines for the foot of a figure of these cells. A value that was not recorded is called unknown."""
    device = run.device
    back_end = {"cpu": "CPU executor", "cuda": "CUDA back end"}.get(run.backend, run.backend)
    options = "" if len(run.provenance.get("executors", [])) > 1 else run.run.get("executor")
    hardware = [" ".join(filter(None, (back_end, options))), device.get("name") or NO_DEVICE]
    if run.backend == "cuda":
        hardware.append(f"driver {device.get('driver_version') or device.get('driver') or 'unknown'}")
        hardware.append(device.get("toolkit") or "CUDA unknown")
    measured = [f"workload {run.cells['workload'].iloc[0]}"]
    measured += [labels.told(run, name, value) if isinstance(value, bool) else
                 labels.setting_of(run, name, value) if isinstance(value, int) or quantity.is_share(name) else f"{labels.setting_name(run, name)} {value}"
                 for name, value in _fixed_settings(run).items()]
    measured += _pools(run)
    made_of = [run.date or "date unknown", f"allocbench {revision(run)}", f"seed {run.run.get('seed', 'unknown')}"]
    if run.run.get("config_path"):
        made_of.append(f"config {_config_path(run.run['config_path'])}")
    made_of += mixed(run)
    if run.not_finished:
        made_of.append(f"unfinished: {_counted(run.not_finished, 'cell')} fewer rounds than planned")
    if run.not_measured:
        made_of.append(f"not measured: {run.not_measured} planned cell{'s' if run.not_measured > 1 else ''} of the run")
    if run.provisional:
        made_of.append(f"provisional: {_counted(run.provisional, 'cell')} fewer than three rounds")
    return " · ".join(hardware), " · ".join(measured), " · ".join(made_of)


def _pools(run: Run) -> list[str]:
    """Returns the pool, or which allocators have which pool. If an allocator has several pools, the result is empty,
    because the figure itself shows the swept pools.
    """
    pools = run.cells["pool_bytes"].dropna().unique()
    if len(pools) == 1:
        return [f"pool {quantity.in_bytes(pools[0])}"]
    of_each = {name: set(run.cells.loc[run.cells["allocator"] == name, "pool_bytes"].dropna()) for name in run.allocators()}
    if any(len(each) > 1 for each in of_each.values()):
        return []
    having: dict[float, list[str]] = {}
    for name, each in of_each.items():
        for pool in each:
            having.setdefault(pool, []).append(labels.allocator(run, name))
    groups = sorted(having.items(), key=lambda group: -len(group[1]))
    told = [f"{quantity.in_bytes(pool)} ({'most' if number == 0 and len(names) > 1 else ', '.join(names) if len(names) < 5 else f'{len(names)} allocators'})"
            for number, (pool, names) in enumerate(groups)]
    return [f"pools {', '.join(told)}"] if told else []


def _counted(number: int, what: str) -> str:
    return f"{number} {what} has" if number == 1 else f"{number} {what}s have"


def _config_path(path: str) -> str:
    """Removes the folders above configs/ from the path of a config, because they belong to the machine of the run."""
    return path[path.rindex("/configs/") + 1:] if "/configs/" in path else path


def mixed(run: Run) -> list[str]:
    """Lists values that differ within the figure although they should not, and uncommitted changes."""
    told = [f"{len(run.provenance.get(key, []))} {word}" for key, word in
            (("measured_revisions", "revisions"), ("cards", "cards"), ("drivers", "drivers"), ("executors", "sets of executor options"))
            if len(run.provenance.get(key, [])) > 1]
    words = [f"mixed: cells of {', '.join(told)}"] if told else []
    return [*words, "work tree with changes"] if run.provenance.get("dirty") else words


def _fixed_settings(run: Run) -> dict:
    """Returns the workload parameters that the config names and all cells share. They may differ between back ends."""
    shared = {}
    for name in run.config.get("workload", {}):
        values = [parameters.get(name) for parameters in run.cells["workload_parameters"]]
        if name != "id" and values[0] is not None and len(set(map(str, values))) == 1:
            shared[name] = values[0]
    return shared


def revision(run: Run) -> str:
    """Returns version and revision. It lists the revisions of all cells, most frequent first, because a log can be
    continued at another revision.
    """
    recorded = run.run.get("allocbench") or {}
    if isinstance(recorded, dict):
        version, commit = recorded.get("version", ""), recorded.get("revision", "")
        measured = Counter(revision for revision in run.cells["revision"] if revision)
        if measured:
            commit = ", ".join(name for name, _ in measured.most_common())
        return f"{version} ({commit})" if version and commit else version or commit or "revision unknown"
    return str(recorded)


def device_of(run: Run) -> tuple[str, str]:
    """Returns the back end and the model. Only times with equal back end and model can be compared."""
    return run.backend, run.device.get("name") or NO_DEVICE


def require_one_device(runs: Sequence[Run]) -> None:
    """Raises an error if the runs come from different devices, because their times cannot be compared."""
    devices = {device_of(run): run.folder for run in runs}
    named = {back_end for back_end, name in devices if name != NO_DEVICE}
    devices = {device: folder for device, folder in devices.items() if device[1] != NO_DEVICE or device[0] not in named}
    if len(devices) > 1:
        told = "; ".join(f"{folder}: {name}" for (_, name), folder in devices.items())
        raise UsageError(f"The runs come from different devices ({told}), whose times cannot be compared. Name the results of one device.")
