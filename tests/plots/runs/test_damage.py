"""Tests that damaged results are either refused with file and reason, or drawn. Seeds are printed and can be
replayed.
"""

import copy
import json
import random

import pytest
from allocbench import quick, stored
from allocbench.errors import NothingToDraw, UsageError
import synthetic

from plots.figures import drawing
from plots.figures.kinds import KINDS

CONFIG = {"name": "test/fig", "description": "A test", "allocators": ["c_malloc", {"id": "halloc", "label": "H"}], "statistic": "mean",
          "sweep": {"threads": [1, 2, 3]}, "workload": {"id": "alloc_free"},
          "plot": {"kind": "lines", "x": "threads", "y": "alloc", "log": "xy", "names": {"halloc": "x"}}}


def _folder(tmp_path):
    cells = [synthetic.cell(name, {"threads": x}, values={("alloc", "time"): 1e-6 * x, ("alloc", "operations"): 5.0})
             for name in ("c_malloc", "halloc") for x in (1, 2, 3)]
    folder = synthetic.write(tmp_path / "run", CONFIG, cells, "cuda")
    for number in range(len(cells)):
        synthetic.change(folder, number, revision="a", display_name="N", counted={"histograms": {"steps": [[1, 2]]}},
                         phases=[{"name": "alloc", "samples": [1e-6, 2e-6, 3e-6, 4e-6, 5e-3]}])
    return folder


def _read_and_draw(folder):
    try:
        run = drawing.read(folder)
        KINDS[run.plot.get("kind", "status_matrix")](run, "stem")
    except (NothingToDraw, UsageError) as error:
        assert str(folder) in str(error) or "test/fig" in str(error)


def test_the_whole_run_is_drawn(tmp_path):
    run = drawing.read(_folder(tmp_path))
    assert "Means that few samples dominate: " in KINDS["lines"](run, "stem").markdown


def test_damaged_bytes(tmp_path, session_seed):
    folder = _folder(tmp_path)
    whole = (folder / "results.json").read_bytes()
    for trial in range(60):
        rng = random.Random(f"{session_seed} bytes {trial}")
        data, place = bytearray(whole), rng.randrange(len(whole))
        damage = rng.choice(("cut", "flip", "drop", "insert"))
        if damage == "cut":
            data = data[:place]
        elif damage == "flip":
            data[place] = rng.randrange(256)
        elif damage == "drop":
            del data[place:place + rng.randint(1, 40)]
        else:
            data[place:place] = rng.choice([b",", b'"', b"\n", b"null", b"-1", b"1e308", b"{}", b"[]", b"\0"])
        (folder / "results.json").write_bytes(bytes(data))
        print(f"trial {trial}: {damage} at {place}")
        _read_and_draw(folder)


def _places(node, path=()):
    yield path
    for key in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield from _places(node[key], (*path, key))


def test_values_of_another_type(tmp_path, session_seed):
    folder = _folder(tmp_path)
    whole = json.loads((folder / "results.json").read_text())
    places = [path for path in _places(whole) if path]
    for trial in range(80):
        rng = random.Random(f"{session_seed} types {trial}")
        document, path = copy.deepcopy(whole), rng.choice(places)
        parent = document
        for key in path[:-1]:
            parent = parent[key]
        parent[path[-1]] = rng.choice([None, [], {}, "x", -1, 1e400, [1], [[1]], {"a": 1}, True])
        (folder / "results.json").write_text(json.dumps(document))
        print(f"trial {trial}: {path}")
        _read_and_draw(folder)


def test_the_quick_test_accepts_nothing_that_the_schema_refuses(tmp_path, session_seed):
    fits, validator = stored._schema()
    whole = json.loads((_folder(tmp_path) / "results.json").read_text())["allocbench"]
    assert fits(whole) and validator.is_valid(whole)
    places, refused = [path for path in _places(whole) if path], 0
    for trial in range(400):
        rng = random.Random(f"{session_seed} quick {trial}")
        document, path = copy.deepcopy(whole), rng.choice(places)
        parent = document
        for key in path[:-1]:
            parent = parent[key]
        if rng.random() < 0.2:
            del parent[path[-1]]
        else:
            parent[path[-1]] = rng.choice([None, [], {}, "x", "ok", -1, 0, 1.5, 1e200, [1], [[1, 2]], {"a": 1}, {"a": [1, 2]}, True])
        print(f"trial {trial}: {path}")
        assert validator.is_valid(document) or not fits(document)
        refused += not fits(document)
    assert refused > 40


@pytest.mark.parametrize("keyword", ["multipleOf", "format", "not"])
def test_the_quick_test_leaves_what_it_does_not_know_to_the_library(keyword):
    assert not quick.test_of({"type": "number", keyword: 1})(1)


@pytest.mark.parametrize("sample, mistake", [(-1e-6, "less than the minimum"), (1e308, "greater than the maximum"), ("fast", "not of type"), (None, "not of type"), (True, "not of type")])
def test_samples_that_are_no_times_are_refused_with_their_place(tmp_path, sample, mistake):
    folder = _folder(tmp_path)
    document = json.loads((folder / "results.json").read_text())
    document["allocbench"]["cells"][2]["phases"][0]["samples"][1] = sample
    (folder / "results.json").write_text(json.dumps(document))
    with pytest.raises(UsageError, match=rf"results.json:1 /allocbench/cells/2/phases/0/samples/1: .* {mistake}"):
        drawing.read(folder)


def test_an_axis_with_words_and_numbers_is_refused(tmp_path):
    folder = _folder(tmp_path)
    synthetic.change(folder, 2, axes={"threads": "x"})
    with pytest.raises(UsageError, match=r"/allocbench/cells/2/axes/threads holds 'x', but other cells have values like 1"):
        drawing.read(folder)
