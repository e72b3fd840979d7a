"""Rows of results.csv as tables: of cells, and of their settings."""

from __future__ import annotations

import pandas

from allocbench import stored

ABOUT = ["allocator", "workload", "pool_bytes", "backend", "status", "reason"]  # a cell, besides its settings


def cells_of(rows: pandas.DataFrame) -> pandas.DataFrame:
    """One row per cell, in stored order, with what every of its rows repeats; a cell with one row that is not ok is not ok."""
    own = [name for name in rows.columns if name not in stored.OF_VALUES]
    cells = rows.drop_duplicates("cell")[own].set_index("cell")
    failed = rows[rows["status"] != "ok"].drop_duplicates("cell", keep="last").set_index("cell")
    cells.loc[failed.index, ["status", "reason"]] = failed[["status", "reason"]]
    cells["pool_bytes"] = pandas.Series([None if pandas.isna(pool) else int(pool) for pool in cells["pool_bytes"]], index=cells.index, dtype=object)
    return cells


def settings_of(cells: pandas.DataFrame) -> pandas.DataFrame:
    """Every swept or fixed setting as a column, with the same index; None where a cell has none. A swept setting goes before one of
    the workload, and that before one of the allocator."""
    settings = pandas.DataFrame([{**row.allocator_parameters, **row.workload_parameters, "allocator": row.allocator,
                                  "pool_bytes": row.pool_bytes, **row.axes} for row in cells.itertuples()],
                                index=cells.index, dtype=object)
    return settings.where(settings.notna(), None)


def of_ok_cells(rows: pandas.DataFrame, cells: pandas.DataFrame) -> pandas.DataFrame:
    """The rows with a metric of the cells that are ok: only these have numbers."""
    ok = cells.index[cells["status"] == "ok"]
    return rows[rows["cell"].isin(ok) & (rows["metric"] != "")]
