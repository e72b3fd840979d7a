"""Tests the forest plot of a ledger."""

import matplotlib.text
import pytest
from judged import COMPARED, cell, forms_run, run_of

from plots.ledger import claims, forest


def test_the_forest_plot_has_a_line_per_claim_about_ratios(tmp_path):
    claims_made = [{"says": f"It is {x} times slower.", "source": "fig. 1", "ratio": {"of": "cuda_malloc", "to": "kma"}, "between": [x, 2 * x]} for x in (1, 3, 100)]
    run = forms_run(tmp_path, "ok")
    run.config["claims"] = [*claims_made, {"says": "Flat.", "source": "fig. 1", "growth": {"of": "kma"}, "below": 1}]
    drawing, = forest.drawings(claims.ledger([run], tmp_path))
    assert drawing.stem == "claims_test" and "3 sentences" in [text.get_text() for text in drawing.page.figure.texts]
    assert sum(text.get_text().split("\n")[0] in ("holds", "does not hold", "cannot tell") for text in drawing.page.figure.texts) == 3
    drawing.write(tmp_path / "out", ("png",))


@pytest.mark.parametrize("width, shown", [(None, False), (0.01, True)])
def test_the_forest_plot_leaves_out_originals_without_an_interval_in_the_run(tmp_path, width, shown):
    names = (("c_malloc", 1e-6), ("cuda_malloc", 2e-6), ("c_malloc_original", 5e-7))
    run = run_of(tmp_path, [cell(name, 1, seconds, width) for name, seconds in names], claims=[{"says": "It is slower.", "source": "fig. 1", "ratio": COMPARED, "above": 1}])
    drawing, = forest.drawings(claims.ledger([run], tmp_path))
    texts = [text.get_text() for text in drawing.page.figure.findobj(matplotlib.text.Text)]
    assert ("original" in texts) == any("authors' code" in text for text in texts) == shown


def test_the_forest_plot_says_where_no_interval_is(tmp_path):
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6, None), cell("cuda_malloc", 1, 9e-6)], claims=[
        {"says": "It is slower.", "source": "fig. 1", "ratio": COMPARED, "above": 2}])
    drawing, = forest.drawings(claims.ledger([run], tmp_path))
    assert "cannot tell\n9, no interval" in [text.get_text() for text in drawing.page.figure.texts]


def test_a_single_stated_value_is_seen(tmp_path):
    run = forms_run(tmp_path, "ok")
    run.config["claims"] = [{"says": "Twice.", "source": "fig. 1", "ratio": {"of": "cuda_malloc", "to": "kma"}, "between": [1.5, 2.5], "paper": 2}]
    ledger = claims.ledger([run], tmp_path)
    (drawing,) = forest.drawings(ledger)
    lines = [line for axes in drawing.page.figure.axes for line in axes.collections if len(line.get_segments()) == 1]
    assert [segment[0][0] for line in lines for segment in line.get_segments()] == [2]
