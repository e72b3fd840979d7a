"""Tests recorded calls as a table, and the errors for damaged traces."""

import gzip
import json

import numpy
import pytest

import allocbench

ARRAYS = {
    "thread": numpy.array([0, 0, 3, 1], dtype="<u4"),
    "operation": numpy.array([0, 0, 1, 1], dtype="|u1"),
    "alignment": numpy.array([0, 8, 0, 0], dtype="|u1"),
    "bytes": numpy.array([16, 5_000_000_000, 0, 0], dtype="<u8"),
    "block": numpy.array([0, 0xFFFFFFFF, 0, 0xFFFFFFFF], dtype="<u4"),
}


def _kernel(name, calls):
    return {"name": name, "blocks": 1, "threads_per_block": 4, "calls": calls, "lost": 0}


@pytest.fixture(name="trace")
def _trace(tmp_path):
    about = {"format": "allocbench-trace", "version": 1, "allocator": "comb", "pool_bytes": 1 << 20, "clock": None,
             "kernels": [_kernel("build", 3), _kernel("build", 1)]}
    (tmp_path / "trace.json").write_text(json.dumps(about), encoding="utf-8")
    for name, array in ARRAYS.items():
        numpy.save(tmp_path / f"{name}.npy", array)
    return tmp_path


def test_a_row_per_call(trace):
    table = allocbench.read_trace(trace)
    assert list(table["kernel"]) == [0, 0, 0, 1] and list(table["name"]) == ["build"] * 4
    assert list(table["operation"]) == ["malloc", "malloc", "free", "free"]
    assert list(table["bytes"]) == [16, 5_000_000_000, 0, 0] and list(table["alignment"]) == [0, 256, 0, 0]
    assert list(table["block"]) == [0, -1, 0, -1] and list(table["thread"]) == [0, 0, 3, 1]
    assert table.attrs["allocator"] == "comb" and "clock" not in table


def test_clocks_are_a_column(trace):
    about = json.loads((trace / "trace.json").read_text(encoding="utf-8"))
    (trace / "trace.json").write_text(json.dumps(dict(about, clock="ns")), encoding="utf-8")
    numpy.save(trace / "clock.npy", numpy.array([0, 5, 7, 0], dtype="<u4"))
    assert list(allocbench.read_trace(trace)["clock"]) == [0, 5, 7, 0]


def test_packed_arrays_are_read(trace):
    path = trace / "bytes.npy"
    (trace / "bytes.npy.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert list(allocbench.read_trace(trace)["bytes"]) == [16, 5_000_000_000, 0, 0]


def test_a_trace_without_calls_is_a_table_without_rows(trace):
    about = json.loads((trace / "trace.json").read_text(encoding="utf-8"))
    (trace / "trace.json").write_text(json.dumps(dict(about, kernels=[])), encoding="utf-8")
    for name, array in ARRAYS.items():
        numpy.save(trace / f"{name}.npy", array[:0])
    assert len(allocbench.read_trace(trace)) == 0


@pytest.mark.parametrize(
    "harm, told",
    [
        (lambda trace: (trace / "trace.json").unlink(), "trace.json cannot be opened (No such file or directory): a trace is a folder"),
        (lambda trace: (trace / "trace.json").write_text("{"), "trace.json is damaged: "),
        (lambda trace: (trace / "trace.json").write_text('{"format": "allocbench-trace", "version": 2}'), "trace.json: version 2; this package reads version 1"),
        (lambda trace: (trace / "trace.json").write_text('{"format": "other"}'), 'format is not "allocbench-trace"'),
        (lambda trace: (trace / "thread.npy").unlink(), "thread.npy cannot be read: No such file or directory"),
        (lambda trace: (trace / "thread.npy").write_bytes(b"x"), "thread.npy is damaged: "),
        (lambda trace: numpy.save(trace / "thread.npy", ARRAYS["bytes"]), "thread.npy has (4,) elements of <u8; expected (4,) of <u4"),
        (lambda trace: numpy.save(trace / "bytes.npy", ARRAYS["bytes"][:3]), "bytes.npy has (3,) elements of <u8; expected (4,) of <u8"),
        (lambda trace: numpy.save(trace / "operation.npy", ARRAYS["operation"] * 2), "operation.npy: row 2 is neither 0 (malloc) nor 1 (free)"),
    ],
)
def test_damage_is_named(trace, harm, told):
    harm(trace)
    with pytest.raises(allocbench.UsageError) as error:
        allocbench.read_trace(trace)
    assert told in str(error.value)
