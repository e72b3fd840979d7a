"""This module writes numbers with their units: 128 KiB, 12.5 µs, 3.2 Mop/s."""

from __future__ import annotations

import functools
import math
import re
from typing import Callable, Sequence

_IEC = ("B", "KiB", "MiB", "GiB", "TiB")
_AXIS_NAMES = {"request_bytes": "request size", "pool_bytes": "pool size", "iterations": "allocations per thread",
               "launches": "kernel launches", "lanes_per_warp": "allocating lanes per warp",
               "allocations": "allocations per thread", "taken_share": "share of the pool taken before",
               "max_bytes": "largest request", "free_share": "free", "cluster_pages": "pages per cluster",
               "page_bytes": "pages of", "sms": "multiprocessors", "item_bytes": "items of", "chunk_bytes": "chunks of",
               "superblock_bytes": "superblocks of"}
_METRIC_NAMES = {"throughput": "operations per second", "allocated_bytes_per_second": "allocated per second",
                 "internal_waste": "waste in a block", "external_waste": "unusable share of the pool",
                 "time_per_launch": "mean time of a kernel", "utilisation": "served, of all its memory",
                 "steps_per_malloc": "TAS: steps per malloc", "warp_steps_per_malloc": "WAS: steps per warp",
                 "atomic_cycles": "cycles per atomic", "alloc_cycles": "cycles per malloc", "free_cycles": "cycles per free", "speed_up": "speed-up", "range_per_live": "address range over bytes in use",
                 "usable_share": "usable share of the pool", "recovered_share": "served again, of the bytes freed",
                 "lost_share": "share of the pool that nobody gets", "largest_free_request": "largest request still served",
                 "metadata_bytes": "metadata outside of the pool", "energy_per_million": "energy of a million operations",
                 "address_spread": "range of the widest round, over the bytes asked for",
                 "running_spread": "range of all rounds, over the bytes of one", "block_bytes": "granted per request",
                 "null_returns": "requests that got null", "spurious_nulls": "spurious nulls", "init_time": "time to create it, memory included",
                 **{f"{call}_{rank}": f"clock ticks of {what}, {words}" for call, what in (("alloc", "a malloc"), ("free", "a free"), ("own", "no call"))
                    for rank, words in (("p50", "median"), ("p90", "p90"), ("p99", "p99"), ("p999", "p99.9"), ("max", "longest"))}}
_PHASE_NAMES = {"build_probe": "build and probe"}  # two steps in one phase
_SHARES = ("internal_waste", "external_waste", "taken_share", "free_share", "freed_share", "utilisation", "usable_share", "recovered_share", "lost_share", "metadata_share")
_SI = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"))
_WRITTEN_OUT = 100_000  # smaller counts are written in full, except multiples of 1,024 on axes
_WHOLE = 999.5  # numbers from here on are whole: three digits of them would be 1e+03
_DATA_UNITS = ("s", "op/s")


def counted(number: int, thing: str) -> str:
    """Returns a count with its noun: 1 run, 2 runs."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def parse_bytes(value) -> int:
    """Reads 128, "64MiB" or "2 GiB" as a number of bytes. As in the front end, KB, MB and GB are errors, because they
    are ambiguous.
    """
    if isinstance(value, (int, float)):
        return int(value)
    found = re.fullmatch(r"([0-9.]+)\s*(?:([kKMGT])iB|B)?", value.strip())
    if not found:
        raise ValueError(f"{value!r} is not a size in bytes")
    return int(float(found[1]) * 1024 ** (" KMGT".index(found[2].upper()) if found[2] else 0))


def in_bytes(value: float) -> str:
    """Writes at most three significant digits, or a whole number from 1,000 on. A whole size from 1 KiB to 100,000 B
    that rounding would change is written in full: 4,100 B is not 4 KiB.
    """
    if 1024 < value < 1e5 and float(value).is_integer() and float(_short(value / 1024)) * 1024 != value:
        return f"{value:,.0f} B"
    scale = binary_scale(value)
    return f"{_short(value / scale)} {_IEC[scale.bit_length() // 10]}"


def binary_scale(value: float) -> int:
    """Returns the largest binary unit that the value reaches: 1, 1024, 1024² and so on, in bytes."""
    power = 0
    while power + 1 < len(_IEC) and abs(value) >= 1024 ** (power + 1):
        power += 1
    return 1024**power


def in_si(value: float, unit: str, padded: bool = False) -> str:
    """Writes at most three significant digits and an SI prefix: 1.2 ms, or 1.20 ms if `padded` for a table."""
    if value == 0:
        return f"0 {unit}".rstrip()
    # The value is rounded first, because 999.96 must become 1 k, not 1000.
    digits = 2 - math.floor(math.log10(abs(value)))
    value = round(value, digits)
    scale, prefix = prefix_of(value)
    scaled = value / scale
    text = f"{scaled:.{max(0, 2 - math.floor(math.log10(abs(scaled))))}f}" if padded else _short(scaled)
    return f"{text} {prefix}{unit}".rstrip()


def prefix_of(value: float) -> tuple[float, str]:
    """Returns the scale and the SI prefix of a number."""
    return next(((scale, prefix) for scale, prefix in _SI if abs(value) >= scale * 0.9999999), _SI[-1])


def count(value: float) -> str:
    """Writes three significant digits, or a whole number in full."""
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= _WHOLE else _short(value)


def factor(value: float, digits: int = 2) -> str:
    """Writes a ratio with this number of significant digits below a hundred, and without decimals above."""
    return f"{value:,.0f}" if abs(value) >= 99.5 else f"{value:.{digits}g}"


def with_interval(text: str, value: float, low: float, high: float) -> str:
    """Writes a value with its interval, such as `1.23 ms ±4 %`. The percentage is the distance to the farther end of
    the interval.
    """
    if math.isnan(low) or math.isnan(high) or value == 0:
        return text
    away = 100 * max(high - value, value - low) / abs(value)
    return f"{text} ±{away:.0f} %" if away >= 0.95 else f"{text} ±{away:.1f} %" if away >= 0.05 else text


def on_axis(name: str, values: Sequence[float] = ()) -> Callable[[float], str]:
    """Returns the function that writes values of a setting on an axis with these `values`. It shortens counts in the same
    way in all figures.
    """
    write = formatter(name)
    large = any(value >= _WRITTEN_OUT and value % 1000 == 0 and value % 1024 for value in values)
    return functools.partial(_count_on_axis, least=1000 if large else _WRITTEN_OUT) if write is count else write


def _count_on_axis(value: float, least: float) -> str:
    """Shortens a count without losing digits.

    Multiples of 1,024 have the prefixes Ki, Mi and Gi. Other multiples of 1,000 have k, M and G if they are 100,000 or
    more, or if other values of their axis are. Other counts are written in full.
    """
    for unit, prefixes in ((1024, ("Ki", "Mi", "Gi")), (1000, ("k", "M", "G"))):
        power = next((power for power in (3, 2, 1) if value >= unit**power and value % unit**power == 0), 0)
        if power and (unit == 1024 or value >= least):
            return f"{value / unit**power:,.0f} {prefixes[power - 1]}"
    return count(value)


def formatter(name: str, unit: str = "", padded: bool = False) -> Callable[[float], str]:
    """Returns the function that writes values of the setting or metric `name` with `unit`, unit included."""
    if unit in ("B", "bytes") or name.endswith("_bytes") or name == "alignment":
        return in_bytes
    if unit == "B/s":
        return lambda value: f"{in_bytes(value)}/s"
    if is_share(name):
        return lambda value: f"{_short(100 * value)} %"
    if unit in _DATA_UNITS:
        return lambda value: in_si(value, unit, padded)
    if is_ratio(name):
        return lambda value: f"{count(value)}×"
    return count


def is_number(value) -> bool:
    """Returns whether a value of a setting is a number. A setting that is on or off is a word."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def written(setting: str, value) -> str:
    """Returns a value of a setting: a number with its unit, or a word as it is."""
    return formatter(setting)(value) if is_number(value) else str(value)


def is_share(name: str) -> bool:
    """Returns whether the metric or setting is a share of 1, which is written in percent."""
    return name in _SHARES


def is_ratio(name: str) -> bool:
    return name.startswith("relative_") or name == "speed_up"


def metric_name(metric: str) -> str:
    """Returns the display name of a metric. A relative metric has the name of the metric that it compares."""
    metric = metric.removeprefix("relative_")
    return _METRIC_NAMES.get(metric, metric.replace("_", " "))


def phase_name(phase: str) -> str:
    """Returns the display name of a timed phase."""
    return _PHASE_NAMES.get(phase, phase.replace("_", " "))


def axis_name(setting: str) -> str:
    """Returns the display name of a setting of an axis or a table column."""
    setting = setting.removeprefix("allocator.")
    return _AXIS_NAMES.get(setting, setting.replace("_", " "))


def _short(value: float) -> str:
    return f"{value:.3g}" if abs(value) < _WHOLE else f"{value:.0f}"
