"""Tests that the configs draw the figures of their papers. Axes, panels and series must be those of the table of the
papers' figures (paper_figures.json). The table has panels and scales if the text of a paper states them.
"""

import json
from pathlib import Path

import pytest

from plots.runs import configs

ROOT = Path(__file__).resolve().parents[3]
FIGURES = json.loads(Path(__file__).with_name("paper_figures.json").read_text(encoding="utf-8"))
SECTIONS = json.loads((Path(__file__).parents[1] / "ledger" / "sections.json").read_text(encoding="utf-8"))
# These figures are not in paper_figures.json. Some are drawings, pseudocode or photographs, which have no axes. Figure
# 6 of pham2025 is a histogram. Figures 11.a to 11.g of the survey are not compared.
WITHOUT_AXES = {"pham2025": {"3", "6", "7"}, "vinkler2015": {"1", "2"}, "xmalloc2010": {"1", "3"}, "survey2021": {"11.a", "11.b", "11.c", "11.d", "11.e", "11.f", "11.g"}}


def _listed(value):
    return value if isinstance(value, list) else [value]


def faults(config, figure):
    """Returns what a config draws differently from the paper."""
    plot = config["plot"].get("beside", config["plot"])
    shown = plot.get("allocators") or [each if isinstance(each, str) else each["id"] for each in config["allocators"]]
    told = [f"{what} is {mine!r}, the paper's is {theirs!r}" for what, mine, theirs in (
        ("kind", plot["kind"], "lines"), ("x", plot.get("x"), figure["x"]), ("y", _listed(plot.get("metric", "time")), figure["y"]),
        ("panels", plot.get("panels", ""), figure.get("panels"))) if theirs is not None and mine != theirs]
    told += [f"{name} of the paper is missing" for name in figure["series"] if name not in shown]
    if "log" in figure and plot.get("log", "") != figure["log"]:
        told.append(f"log is {plot.get('log', '')!r}, the paper's is {figure['log']!r}")
    if "log" not in figure and not any("Scales of the axes" in each for each in config.get("assumed", [])):
        told.append("the paper states no scales, and `assumed` does not say so")
    return told


@pytest.mark.parametrize("name", FIGURES)
def test_a_config_draws_the_figure_of_its_paper(name):
    assert faults(configs.read(ROOT / "configs" / f"{name}.json"), FIGURES[name]) == []


def test_every_figure_with_axes_is_in_the_table():
    headings = {name: json.loads((ROOT / "configs" / f"{name}.json").read_text(encoding="utf-8"))["paper"] for name in FIGURES}
    for paper, told in SECTIONS.items():
        drawn = " ".join(f"{heading}," for name, heading in headings.items() if name.startswith(paper)).replace(" and ", ", ")
        for figure in told.get("fig.", {}):
            assert f" {figure}," in drawn or figure in WITHOUT_AXES.get(paper, ()), f"{paper}: figure {figure}"


FIGURE = {"x": "threads", "y": ["time"], "series": ["halloc"]}
CONFIG = {"allocators": ["halloc", "kma"], "assumed": ["Scales of the axes: the text of the paper states none."], "plot": {"kind": "lines", "x": "threads", "y": "alloc"}}


@pytest.mark.parametrize("figure, config, told", [
    ({}, {}, ""), ({"x": "request_bytes"}, {}, "x is 'threads', the paper's is 'request_bytes'"), ({"y": ["throughput"]}, {}, "y is ['time']"),
    ({"panels": "threads"}, {}, "panels is '', the paper's is 'threads'"), ({"series": ["rw"]}, {}, "rw of the paper is missing"),
    ({"log": "y"}, {}, "log is '', the paper's is 'y'"), ({}, {"assumed": []}, "`assumed` does not say so"),
    ({}, {"plot": {"kind": "heatmap", "x": "threads"}}, "kind is 'heatmap'"),
    ({}, {"plot": {"kind": "heatmap", "x": "threads", "beside": CONFIG["plot"]}}, ""),
    ({}, {"plot": {**CONFIG["plot"], "allocators": ["kma"]}}, "halloc of the paper is missing")])
def test_what_differs_is_told(figure, config, told):
    found = faults({**CONFIG, **config}, {**FIGURE, **figure})
    assert told in "; ".join(found) and bool(told) == bool(found)
