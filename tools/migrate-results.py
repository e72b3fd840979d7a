#!/usr/bin/python3
"""Brings kept results of format 1 to format 2: what was measured under a plain id was the reworked form.

    tools/migrate-results.py FOLDER...      folders with events.jsonl or events.jsonl.gz at or below them

Ids, labels and the config of a log get the names of format 2. Forms that format 2 does not have are left out (*_published of
KMA and of the CMalloc family, and *_inline: neither as printed nor the reworked form). The logs are rewritten, then
results.csv and results.json from them. Needs build/bin/allocbench (or ALLOCBENCH).
"""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
ALLOCBENCH = os.environ.get("ALLOCBENCH", str(ROOT / "build/bin/allocbench"))
REWORKED = ("scatteralloc halloc xmalloc xmalloc_device_heap fdgmalloc kma rw rw_bm crw corw rw_malloc c_malloc cf_malloc cm_malloc "
            "cfm_malloc ouroboros_p_s ouroboros_p_va ouroboros_p_vl ouroboros_c_s ouroboros_c_va ouroboros_c_vl").split()
RENAMED = {name: f"{name}_reworked" for name in REWORKED} | {
    "rw_bm_published": "rw_bm", "crw_published": "crw", "corw_published": "corw",
    "simple_queue_aggregated": "simple_queue_reworked", "scatteralloc_no_reset": "scatteralloc_reworked_no_reset",
    "scatteralloc_no_coalescing": "scatteralloc_reworked_no_coalescing",
    "fdgmalloc_on_cfm_malloc": "fdgmalloc_reworked_on_cfm_malloc", "fdgmalloc_on_kma": "fdgmalloc_reworked_on_kma"}
DROPPED = {f"{name}_malloc_{form}" for name in ("c", "cf", "cm", "cfm") for form in ("published", "inline")} | {"kma_published"}
LABEL = re.compile(r"([a-z][a-z0-9_]*)(\(.*)?", re.DOTALL)


def renamed(name: str) -> str:
    """An id, or a label that begins with one: xmalloc(superblocks=false)."""
    found = LABEL.fullmatch(name)
    return f"{RENAMED[found[1]]}{found[2] or ''}" if found and found[1] in RENAMED else name


def in_config(value):
    if isinstance(value, str):
        return renamed(value)
    if isinstance(value, list):
        return [in_config(entry) for entry in value if not _is_dropped(entry)]
    if isinstance(value, dict):
        return {renamed(key): in_config(entry) for key, entry in value.items() if key not in DROPPED}
    return value


def _is_dropped(entry) -> bool:
    return (entry.get("id") if isinstance(entry, dict) else entry) in DROPPED if isinstance(entry, (str, dict)) else False


def migrate(lines: list[str], known: dict[str, dict]) -> list[str]:
    events = [json.loads(line) for line in lines]
    gone = {event["id"] for event in events if event["event"] == "cell" and event["allocator"] in DROPPED}
    kept = []
    for event in events:
        if event.get("cell") in gone or event["event"] == "cell" and event["id"] in gone:
            continue
        if event["event"] == "run":
            event["format"] = 2
            event["config"] = in_config(event["config"])
            event["planned"] = [cell for cell in event.get("planned", []) if cell not in gone]
            if not event["planned"]:
                del event["planned"]
        elif event["event"] == "cell":
            for key in ("allocator", "label", "series"):
                event[key] = "/".join(renamed(part) for part in event[key].split("/"))
            about = known.get(event["allocator"], {})
            event = {**event, "display_name": about.get("display_name", event["allocator"]), "form": about.get("form", "published")}
        kept.append(json.dumps(event, ensure_ascii=False, separators=(",", ":")))
    return kept


def main(folders: list[str]) -> int:
    listed = subprocess.run([ALLOCBENCH, "list", "allocators", "--all", "--json"], capture_output=True, text=True, check=True)
    known = {entry["name"]: entry for entry in json.loads(listed.stdout)["allocators"]}
    logs = sorted(path for folder in folders for pattern in ("events.jsonl", "events.jsonl.gz") for path in pathlib.Path(folder).rglob(pattern))
    if not logs:
        print(f"No events.jsonl or events.jsonl.gz at or below {', '.join(folders)}.", file=sys.stderr)
        return 2
    for log in logs:
        packed = log.suffix == ".gz"
        text = (gzip.open(log, "rt", encoding="utf-8") if packed else log.open(encoding="utf-8")).read()
        if '"format":2' in text.split("\n", 1)[0]:
            print(f"{log}: format 2 already")
            continue
        lines = migrate([line for line in text.split("\n") if line.strip()], known)
        with tempfile.TemporaryDirectory() as scratch:
            run = pathlib.Path(scratch) / "run"
            run.mkdir()
            (run / "events.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
            told = subprocess.run([ALLOCBENCH, "report", str(run)], capture_output=True, text=True, check=False)
            if told.returncode not in (0, 1):
                print(f"{log}: {told.stderr}", file=sys.stderr)
                return 2
            document = json.loads((run / "results.json").read_text(encoding="utf-8"))
            if packed:
                document["benchmarks"] = []
            (run / "results.json").write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
            for name in ("events.jsonl", "results.csv", "results.json"):
                if packed:
                    (log.parent / f"{name}.gz").write_bytes(gzip.compress((run / name).read_bytes(), 9, mtime=0))
                else:
                    shutil.copy(run / name, log.parent / name)
        print(f"{log.parent}: {len(lines)} events")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        sys.exit(0)
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1:]))
