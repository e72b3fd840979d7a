"""Checks that every config of the repository fits the published schema and the plots."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from plots.figures.kinds import KINDS, OF_CONFIGS
from plots.ledger import effects
from plots.runs import configs, labels, schema

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
SCHEMA = json.loads((CONFIGS / "schema" / "config.schema.json").read_text())
FILES = sorted(path for path in CONFIGS.rglob("*.json") if path.parent.name != "schema")
MEASURING = [path for path in FILES if "workload" in json.loads(path.read_text())]


def _id(path):
    return str(path.relative_to(CONFIGS))


def _effective(path, *sections):
    return configs.effective(configs.read(path), *sections)


def test_the_schema_is_a_schema():
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert len(FILES) >= 9


@pytest.mark.parametrize("path", FILES, ids=_id)
def test_config_fits_the_schema(path):
    errors = [f"{list(error.absolute_path)}: {error.message}"
              for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(json.loads(path.read_text()))]
    assert errors == []


@pytest.mark.parametrize("case", json.loads((CONFIGS.parent / "tests" / "harness" / "golden" / "effective_configs.json").read_text()), ids=lambda case: case["says"])
def test_parts_merge_as_in_the_front_end(case):
    """The front end has the same cases (config_merge_test.cpp)."""
    assert configs.effective(configs.spread(case["config"]), *case["sections"]) == case["effective"]


@pytest.mark.parametrize("path", FILES, ids=_id)
def test_the_name_is_the_path(path):
    assert json.loads(path.read_text())["name"] == str(path.relative_to(CONFIGS).with_suffix(""))


@pytest.mark.parametrize("sections", [("cpu",), ("cuda",), ("cuda", "full")], ids="-".join)
@pytest.mark.parametrize("path", MEASURING, ids=_id)
def test_effective_configs_fit_the_schema_and_sweep_what_they_plot(path, sections):
    config = _effective(path, *sections)
    jsonschema.Draft7Validator(SCHEMA).validate(config)
    if "plot" not in config:
        assert "trace" in config  # such a config records a trace and draws nothing
        return
    assert config["plot"]["kind"] in KINDS
    axes = {name: values for group in (config.get("sweep", {}), *config.get("zip", [])) for name, values in group.items()}
    axes["allocator"] = list({entry["id"] if isinstance(entry, dict) else entry for entry in config["allocators"]})
    for entry in config["allocators"]:
        for name, value in (entry.get("parameters", {}) if isinstance(entry, dict) else {}).items():
            axes[name] = sorted({*axes.get(name, []), value})
    if "x" in config["plot"]:
        assert set(labels.listed(config["plot"]["x"])) & set(axes)
    schema.check(config["plot"], path)
    for key in ("panels", "rows"):
        if isinstance(config["plot"].get(key), str):  # a setting is listed; tables may print other rows
            values = axes[config["plot"][key]]
            names = config["plot"].get(f"{key.removesuffix('s')}_names", values)
            assert len(names) == len(values)
            for name, value in zip(names, values):  # a name that contains a number has the number of its panel
                told = re.findall(r"[\d.,]+", str(name))
                if told and isinstance(value, float):
                    assert float(told[0]) in (value, pytest.approx(100 * value))


def _allocators_named(part):
    """Returns the allocators that a claim or a part of it names."""
    if isinstance(part, list):
        return set().union(*map(_allocators_named, part))
    if isinstance(part, dict):
        return set().union(*(_allocators_named(part[key]) for key in (*effects.KINDS, "of", "to", "over", "against", "allocator")
                             if key in part and not (key == "over" and isinstance(part[key], str) and part[key] in ("every", "most", "some", "largest", "mean"))))
    return {part}


@pytest.mark.parametrize("path", [path for path in MEASURING if "claims" in json.loads(path.read_text())], ids=_id)
def test_claims_are_about_allocators_of_their_config(path):
    config = json.loads(path.read_text())
    for claim in config["claims"]:
        there = {name for entry in _effective(path, claim.get("backend", "cuda"))["allocators"]
                 for name in ([entry] if isinstance(entry, str) else [entry["id"], entry.get("label", entry["id"])])}
        assert _allocators_named(claim) <= there, claim["says"]


@pytest.mark.parametrize("path", [path for path in MEASURING if "full" in json.loads(path.read_text())], ids=_id)
def test_the_whole_grid_has_the_allocators_of_its_claims(path):
    config = _effective(path, "cuda", "full")
    labels_there = {entry if isinstance(entry, str) else entry.get("label", entry["id"]) for entry in config["allocators"]}
    for claim in config.get("claims", []):
        assert _allocators_named(claim) <= labels_there, claim["says"]


@pytest.mark.parametrize("change", [
    {"workloads": {}}, {"allocators": []}, {"allocators": ["A"]}, {"pool_bytes": "2 gigs"}, {"state": "old"}, {"aged_rounds": -1},
    {"sweep": {"request_bytes": {"log2": [4]}}}, {"sweep": {"request_bytes": {"log2": [4, 8], "range": [1, 2, 1]}}},
    {"plot": {"kind": "pie"}}, {"plot": {"kind": "lines"}}, {"plot": {"kind": "lines", "x": "threads", "colour": "red"}},
    {"cpu": {"name": "other"}}, {"name": "a//b"}, {"repetitions": 0}, {"deadline_s": 0}])
def test_the_schema_refuses_mistakes(change):
    config = {**json.loads((CONFIGS / "smoke.json").read_text()), **change}
    assert not jsonschema.Draft7Validator(SCHEMA).is_valid(config)


@pytest.mark.parametrize("missing", ["name", "allocators", "workload", "pool_bytes"])
def test_the_schema_asks_for_what_the_front_end_needs(missing):
    config = json.loads((CONFIGS / "smoke.json").read_text())
    del config[missing]
    assert not jsonschema.Draft7Validator(SCHEMA).is_valid(config)


def test_every_key_of_a_plot_has_a_meaning_and_every_kind_a_module():
    assert set(KINDS) | set(OF_CONFIGS) == set(schema.kinds())
    rows = schema.keys().rows
    assert len(rows) >= 30 and all(meaning for _, _, meaning, _ in rows), [key for key, _, meaning, _ in rows if not meaning]


ALLOCATORS_OF_THE_SUITE = 80    # largest number that "all" stands for
# These are seconds of a cell on an H200, with its share of process starts and deadlines. In the survey, 3,139 cells had
# their first round in 536 s. A later round has no verification.
SECONDS_OF_THE_FIRST_ROUND = 0.17
SECONDS_OF_A_LATER_ROUND = 0.07


def _places(config):
    """Returns the cells of one allocator before exclusions, each as a dictionary of axis values."""
    places = [{}]
    for group in [{name: values} for name, values in config.get("sweep", {}).items()] + config.get("zip", []):
        places = [{**place, **dict(zip(group, values))} for place in places for values in zip(*group.values())]
    return places


def _is_excluded(cell, exclusion):
    return all(cell[name] in (values if isinstance(values, list) else [values]) for name, values in exclusion.items())


def _seconds_on_a_gpu(config):
    """Returns the seconds of the first three rounds of all cells together."""
    energy = 4 * config.get("energy_s", 0)  # measured with an idle GPU before and after, and without the timed kernels
    seconds = 0
    for entry in config["allocators"]:
        allocator = entry["id"] if isinstance(entry, dict) else entry
        cells = [{**place, "allocator": allocator} for place in _places(config)]
        cells = [cell for cell in cells if not any(_is_excluded(cell, exclusion) for exclusion in config.get("exclude", []))]
        of_cell = min(3, config.get("overrides", {}).get(allocator, {}).get("rounds", config["rounds"]))
        of_one = SECONDS_OF_THE_FIRST_ROUND + (of_cell - 1) * SECONDS_OF_A_LATER_ROUND + of_cell * energy
        seconds += len(cells) * of_one * (ALLOCATORS_OF_THE_SUITE if allocator == "all" else 1)
    return seconds


@pytest.mark.parametrize("group", ["survey2021", "beyond", "current2026"])
def test_three_rounds_of_a_group_take_twenty_minutes_of_a_gpu_at_most(group):
    """A number that is not provisional needs three rounds. A study of a group ends after 15 minutes, which leaves the
    slowest rounds to --resume.
    """
    seconds = 0
    for path in sorted((CONFIGS / group).glob("*.json")):
        config = _effective(path, "cuda")
        assert config["deadline_s"] <= 2 or "energy_s" in config
        seconds += _seconds_on_a_gpu(config)
    assert seconds < 20 * 60


def _printed_tables(path):
    plot = json.loads(path.read_text()).get("plot", {})
    printed = [plot] if plot.get("kind") == "printed_table" else plot.get("printed", [])
    return [table for table in printed if isinstance(table, dict)]


@pytest.mark.parametrize("path", [path for path in FILES if _printed_tables(path)], ids=_id)
def test_a_row_of_a_printed_table_has_a_word_per_column(path):
    """Only a row without any number may end early, with a dash."""
    for table in _printed_tables(path):
        assert [row for row in table["rows"] if len(row) != len(table["columns"]) and row[-1] != "–"] == []


@pytest.mark.parametrize("cause, fits", [
    ({"kind": "hardware", "because": "It is faster."}, False), ({"kind": "hardware", "evidence": "count", "because": "It makes 3 operations in place of 9."}, True),
    ({"kind": "hardware", "evidence": "guess", "because": "It is faster."}, False), ({"kind": "not known", "because": "It is faster."}, True),
    ({"kind": "test", "evidence": "count", "because": "It is another test."}, False), ({"kind": "slow", "because": "It is slow."}, False)])
def test_hardware_as_a_cause_needs_evidence(cause, fits):
    config = json.loads((CONFIGS / "smoke.json").read_text())
    config["claims"] = [{"says": "It is so.", "source": "fig. 1", "value": {"of": "c_malloc"}, "above": 1, "cause": cause}]
    assert jsonschema.Draft7Validator(SCHEMA).is_valid(config) == fits


@pytest.mark.parametrize("claim, fits", [
    ({"not_judged": "An absolute figure."}, True), ({}, False), ({"value": {"of": "c_malloc"}}, False), ({"above": 1}, False),
    ({"not_judged": "An absolute figure.", "value": {"of": "c_malloc"}, "above": 1}, False), ({"value": {"of": "c_malloc"}, "above": 1, "below": 2}, False)])
def test_a_claim_is_judged_by_one_effect_and_one_bound_or_not_at_all(claim, fits):
    config = json.loads((CONFIGS / "smoke.json").read_text())
    config["claims"] = [{"says": "It is so.", "source": "fig. 1", **claim}]
    assert jsonschema.Draft7Validator(SCHEMA).is_valid(config) == fits
