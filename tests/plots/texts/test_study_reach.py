"""Tests the table of what studies reached."""

from plots.runs import kept
from plots.texts import blocks

HEADER = ("command,date,minutes,commands,cards,device,cells,values,with_three_rounds,kept,of_kept,of_kept_with_three_rounds,"
          "configs,configs_with_values,revision\n")


def test_a_row_per_study(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "REFERENCE", tmp_path)
    (tmp_path / "h200").mkdir()
    (tmp_path / "h200/studies.csv").write_text(f"{HEADER}study papers,2026-01-02,18.40,2,1,TEST,10793,7721,5879,9149,7357,5694,84,83,abc\n"
                                               "study guide,2026-01-02,9.0,1,2,TEST,100,50,40,60,45,44,21,21,abc\n")
    lines = blocks.table("studies h200").splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        "`study papers` in 2 commands", "1 × TEST", "18.4", "7,721 of 10,793", "5,879", "7,357 of 9,149", "83 of 84", "2026-01-02, abc"]
    assert lines[3].startswith("| `study guide` |") and "2 × TEST" in lines[3]
