"""Tests the tables of a paper's page: the sentences that the ledger judges, and the kept figures."""

import json

import pytest
import synthetic

from allocbench.errors import UsageError
from plots.runs import kept
from plots.texts import blocks

CLAIM = {"figure": "doe2020/fig1", "says": "A is fast.", "paper": "2", "wanted": "above 1", "published": "3 (2.9 to 3.1)", "verdict": "holds", "cause": None}


@pytest.fixture(autouse=True)
def reference(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    monkeypatch.setattr(kept, "REFERENCE", tmp_path / "results")
    claims = [CLAIM, {**CLAIM, "figure": "doe2020/fig2", "says": "B is slow.", "paper": "", "verdict": "does not hold", "cause": "hardware (count): Words differ.",
                        "holds_in": "1 of 9", "detail": "A to B, threads 8; 9 places, 0.5 to 3; 5 without a value"},
              {**CLAIM, "figure": "doe2020/fig2", "says": "B is small."}, {**CLAIM, "figure": "doe2020/fig2", "says": "B is old.", "verdict": "cannot tell",
                        "few_rounds": "all on 3 rounds", "cause": "note: B is older."},
              {**CLAIM, "figure": "doe2020/fig2", "says": "B is new.", "few_rounds": "all on 3 rounds", "unequal": "pool", "stands": False,
               "cause": "note (our test differs): B is warm."}, {**CLAIM, "figure": "roe2021/fig1"}]
    (tmp_path / "results" / "dev").mkdir(parents=True)
    (tmp_path / "results" / "dev" / "claims.json").write_text(json.dumps(claims), encoding="utf-8")
    yield tmp_path


def test_sentences_of_one_paper_with_verdict_and_kind_of_cause():
    rows = blocks.table("verdicts dev doe2020").splitlines()
    assert rows[0] == "| paper says | paper | value at the deciding place | places that hold; all values | verdict | cause |"
    assert rows[2:4] == ["| A is fast. (`fig1`) | 2 | 3 (2.9 to 3.1) | – | holds |  |",
                        "| B is slow. (`fig2`) | above 1 | 3 (2.9 to 3.1) | 1 of 9; 0.5 to 3 | does not hold | hardware (count) |"]
    assert "| holds (our test differs, few rounds, unequal, does not stand) |  |" in rows[6]
    assert "| cannot tell |  |" in rows[5], "a note is no cause"
    with pytest.raises(UsageError, match="has no sentence of 'poe'. Known: doe2020, roe2021"):
        blocks.table("verdicts dev poe")


def _kept(root, name, **config):
    config = {"name": f"doe2020/{name}", "description": "Times of A", "allocators": ["a"], **config}
    cells = [synthetic.cell("a", {"threads": 1}, values={("alloc", "time"): 1e-6}), synthetic.cell("a", {"threads": 2}, status="oom")]
    folder = synthetic.write(root / "results" / "dev" / "doe2020" / name, config, cells, "cuda")
    (folder / "figures").mkdir()
    return folder


def test_figures_with_picture_numbers_claims_and_statuses(reference):
    folder = _kept(reference, "fig1")
    for name in ("fig1.png", "fig1.md", "fig1_status.md"):
        (folder / "figures" / name).write_text("", encoding="utf-8")
    path = "../../results/dev/doe2020/fig1/figures"
    rows = blocks.table("figures dev doe2020").splitlines()
    assert rows[0] == "| config | shows | drawn | claims | cells |"
    assert rows[2:] == [f"| `fig1` | Times of A | [numbers]({path}/fig1.md), [picture]({path}/fig1.png) "
                        "| [1 holds](../../results/dev/claims.md#doe2020fig1) | 1 ok, 1 oom |"]
    with pytest.raises(UsageError, match="has no kept run"):
        blocks.table("figures dev roe2021")


def test_a_figure_counts_its_claims_by_verdict(reference):
    _kept(reference, "fig2")
    _kept(reference, "fig3")
    claims = [row.split(" | ")[3] for row in blocks.table("figures dev doe2020").splitlines()[2:]]
    assert claims == ["[2 hold, 1 does not hold, 1 cannot tell](../../results/dev/claims.md#doe2020fig2)", "–"]
