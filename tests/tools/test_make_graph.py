"""Tests tools/make_graph.py, which generates graphs of two families of the 10th DIMACS Implementation Challenge."""

import gzip
import importlib.util
import itertools
import pathlib
import subprocess
import sys

import numpy
import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "make_graph.py"
SPEC = importlib.util.spec_from_file_location("make_graph", TOOL)
make_graph = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_graph)


def _run(*arguments):
    return subprocess.run([sys.executable, "-B", TOOL, *map(str, arguments)], capture_output=True, text=True)


def _edges(path):
    return [tuple(map(int, line.split())) for line in gzip.open(path, "rt").read().splitlines()]


def _made(tmp_path, family, n, seed):
    told = _run(family, "--n", n, "--seed", seed, "--out", tmp_path)
    path, = tmp_path.glob("*.txt.gz")
    edges = _edges(path)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout == f"{path}: {len(edges):,} edges between {1 << n:,} vertices\n"
    assert edges == sorted(set(edges)) and all(one < other < 1 << n for one, other in edges)
    return path.name, edges


def test_rgg_joins_all_points_that_are_near(tmp_path):
    name, edges = _made(tmp_path, "rgg", 9, 3)
    assert name == "rgg_n_2_9_s3.txt.gz"
    where = numpy.random.default_rng(3).random((512, 2))
    where = where[numpy.argsort(where[:, 1])]
    near = 0.55 * numpy.sqrt(numpy.log(512) / 512)
    assert edges == [(one, other) for one, other in itertools.combinations(range(512), 2) if numpy.linalg.norm(where[one] - where[other]) < near]


def _is_in_circle(where, triangle, point):
    """Returns whether the point lies inside the circle through the three points, by the sign of a determinant."""
    rows = [[*(where[corner] - where[point]), numpy.sum((where[corner] - where[point]) ** 2)] for corner in triangle]
    (ax, ay), (bx, by), (cx, cy) = (where[corner] for corner in triangle)
    turn = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    return numpy.linalg.det(rows) * turn > 0


def test_delaunay_has_the_edges_of_triangles_with_empty_circles(tmp_path):
    name, edges = _made(tmp_path, "delaunay", 5, 0)
    assert name == "delaunay_n5.txt.gz"
    where = numpy.random.default_rng(0).random((32, 2))
    empty = [triangle for triangle in itertools.combinations(range(32), 3)
             if not any(_is_in_circle(where, triangle, point) for point in range(32) if point not in triangle)]
    assert edges == sorted({pair for triangle in empty for pair in itertools.combinations(triangle, 2)})


def test_delaunay_has_the_edges_that_scipy_finds(tmp_path):
    from scipy.spatial import Delaunay
    name, edges = _made(tmp_path, "delaunay", 10, 7)
    assert name == "delaunay_n10_s7.txt.gz"
    starts, neighbours = Delaunay(numpy.random.default_rng(7).random((1024, 2))).vertex_neighbor_vertices
    assert edges == [(one, other) for one in range(1024) for other in sorted(neighbours[starts[one]:starts[one + 1]]) if one < other]


def test_the_same_seed_gives_the_same_file(tmp_path):
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / folder).mkdir()
        assert _run("rgg", "--n", 6, "--seed", seed, "--out", tmp_path / folder).returncode == 0
    one, again, other = (next((tmp_path / folder).iterdir()).read_bytes() for folder in "abc")
    assert one == again != other


@pytest.mark.parametrize("arguments, told", [(["rgg", "--n", "25"], "must be from 2 to 24"), (["rgg", "--seed", "-1"], "must not be negative"),
                                             (["delaunay", "--out", "absent"], "is not a folder"), (["other"], "invalid choice")])
def test_mistakes_are_named(arguments, told):
    made = _run(*arguments)
    assert made.returncode == 2 and told in made.stderr
