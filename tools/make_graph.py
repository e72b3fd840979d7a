#!/usr/bin/python3
"""Generates a graph like those in data/graphs: of the family delaunay or rgg of the 10th DIMACS Implementation
Challenge.

    tools/make_graph.py FAMILY [--n 20] [--seed 0] [--out DIR]      FAMILY is delaunay or rgg

The points are 2^n random points of the unit square (Holtgrewe, Sanders & Schulz, "Engineering a Scalable High Quality
Graph Partitioner", IPDPS 2010, instances of the experiments). In rgg an edge joins two points whose distance is below
0.55 sqrt(ln N / N), where N is the number of points. delaunay is the Delaunay triangulation of the points. The lists of
DIMACS come from other random points, so they have other edges. In rgg the ids of the points follow their height, so
near points have near ids as in the list of DIMACS. In delaunay the points keep the order in which they are drawn.

The file is DIR/delaunay_n20.txt.gz or DIR/rgg_n_2_20_s0.txt.gz (default folder: the current one). It has each edge
once, smaller id first, and it is sorted.
"""

import argparse
import gzip
import math
import pathlib
import sys

import numpy
from scipy import spatial

LARGEST = 24  # the largest graphs of both families at DIMACS
_LINES = 1 << 20  # lines that are written at once


def points(n, seed):
    return numpy.random.default_rng(seed).random((1 << n, 2))


def radius(count):
    return 0.55 * math.sqrt(math.log(count) / count)


def rgg(where):
    """Returns the edges between points that are nearer to each other than the radius. Ids follow the height."""
    ordered = where[numpy.argsort(where[:, 1], kind="stable")]
    return _sorted(spatial.cKDTree(ordered).query_pairs(radius(len(where)), output_type="ndarray"))


def delaunay(where):
    """Returns the edges of the Delaunay triangulation of these points."""
    triangles = spatial.Delaunay(where).simplices
    return _sorted(numpy.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])]))


def _sorted(edges):
    """Returns each edge once, with the smaller id first, in ascending order."""
    edges = numpy.sort(edges.astype(numpy.uint64), axis=1)
    keys = numpy.unique(edges[:, 0] << numpy.uint64(32) | edges[:, 1])
    return numpy.stack([keys >> numpy.uint64(32), keys & numpy.uint64(0xFFFFFFFF)], axis=1)


FAMILIES = {"delaunay": delaunay, "rgg": rgg}


def name(family, n, seed):
    """Returns a name like those of DIMACS. DIMACS names Delaunay graphs without a seed, so the name of such a graph
    contains the seed only if the seed is not 0.
    """
    return f"rgg_n_2_{n}_s{seed}" if family == "rgg" else f"delaunay_n{n}" + (f"_s{seed}" if seed else "")


def write(path, edges):
    # Without a time in its header, the same graph gives the same file.
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
        for first in range(0, len(edges), _LINES):
            packed.write("".join(f"{one} {other}\n" for one, other in edges[first:first + _LINES].tolist()).encode())


def main(arguments):
    parser = argparse.ArgumentParser(prog="tools/make_graph.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--n", type=int, default=20, help="the graph has 2^n vertices (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the points (default: %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."), metavar="DIR", help="folder of the file (default: the current one)")
    options = parser.parse_args(arguments)
    if not 2 <= options.n <= LARGEST:
        parser.error(f"--n {options.n} must be from 2 to {LARGEST}")
    if options.seed < 0:
        parser.error(f"--seed {options.seed} must not be negative")
    if not options.out.is_dir():
        parser.error(f"--out {options.out} is not a folder. Create it")
    edges = FAMILIES[options.family](points(options.n, options.seed))
    path = options.out / f"{name(options.family, options.n, options.seed)}.txt.gz"
    write(path, edges)
    print(f"{path}: {len(edges):,} edges between {1 << options.n:,} vertices")


if __name__ == "__main__":
    main(sys.argv[1:])
