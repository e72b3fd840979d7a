"""Tests the ranking of `allocbench try`, from a run of the replay."""

import pytest
import synthetic

from allocbench.errors import UsageError
from plots.advice import tried
from plots.commands import advise as cli

CONFIG = {"name": "try/my", "allocators": ["all"]}


def _cell(allocator, seconds=None, nulls=0.0, registers=None, **more):
    values = {} if seconds is None else {("total", "time"): seconds, ("", "null_returns"): nulls, ("", "metadata_bytes"): 4096}
    if registers:
        values["total", "registers"] = registers
    more.setdefault("status", "ok")
    return synthetic.cell(allocator, {}, values=values, workload="replay", workload_parameters={"trace": "/home/me/my.trace"}, **more)


def _run(folder, *cells):
    return tried.read(str(synthetic.write(folder, CONFIG, list(cells), "cuda")))


def test_a_ranking_by_time(tmp_path):
    text, code = tried.write(
        _run(tmp_path, _cell("comb", (2e-3, 1.9e-3, 2.1e-3), registers=40), _cell("halloc", (1e-3, 0.9e-3, 1.1e-3)), _cell("rw_malloc", (1.05e-3, 1e-3, 1.2e-3)))
    )
    rows = [line.split() for line in text.splitlines()]
    assert code == 0
    assert text.startswith("Which allocator for my.trace? Measured with your trace on TEST DATA, not\nmeasured, pool of 64 MiB.\n")
    ranks = [row[0] for row in rows if row and row[0].rstrip("=").isdigit()]
    assert ranks == ["1=", "1=", "3"], "no interval tells the first two apart"
    assert "3     Comb" in text and "2 ±5 %" in text and "2 ms" in text and "4 KiB" in text
    assert next(row for row in rows if "Comb" in row)[-1] == "40" and next(row for row in rows if "Halloc" in row)[-1] == "-"


def test_who_refused_requests_has_no_rank(tmp_path):
    text, code = tried.write(_run(tmp_path, _cell("comb", 2e-3), _cell("halloc", 1e-3, nulls=1200.0)))
    assert code == 0
    assert "1     Comb" in text, "the yardstick served everything"
    assert "Refused some requests, and so did less work: try a larger --pool:\n  Halloc (published): 0.5 ±" in text and "1,200 null" in text


def test_who_did_not_run_is_named_with_the_reason(tmp_path):
    cells = [_cell("comb", 2e-3), *(_cell(name, status="unsupported", reason="serves requests up to 64 B here") for name in ("rw", "crw")),
             _cell("kma", status="unsupported", reason="needs more"), _cell("xmalloc", status="timeout", reason="used its deadline")]
    text, code = tried.write(_run(tmp_path, *cells))
    assert code == 0
    assert "  unsupported: RW (published); CRW (published); KMA (published)\n    serves requests up to 64 B here (2 of 3; all reasons: --all)" in text
    assert "  timeout: XMalloc (published)\n    used its deadline\n" in text
    text, _ = tried.write(_run(tmp_path, *cells), everything=True)
    assert "  KMA (published): unsupported: needs more\n" in text


def test_nobody_served_it(tmp_path):
    text, code = tried.write(_run(tmp_path, _cell("comb", status="unsupported", reason="no order of launches can replay that")))
    assert code == 1
    assert "No allocator served all requests." in text and "no order of launches can replay that" in text


def test_another_run_is_refused(tmp_path):
    folder = synthetic.write(tmp_path, CONFIG, [synthetic.cell("comb", {})], "cuda")
    with pytest.raises(UsageError, match="contains no run of allocbench try. Name the folder of such a run."):
        tried.read(str(folder))


def test_the_command_prints_it(tmp_path, capsys):
    synthetic.write(tmp_path, CONFIG, [_cell("comb", 2e-3)], "cuda")
    assert cli.main(["--tried", str(tmp_path)]) == 0
    assert "1     Comb" in capsys.readouterr().out
