"""Checks that the sections that claims cite are those of the papers."""

import json
from pathlib import Path

import cited
import pytest

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
CLAIMS = [(path, claim) for path in sorted(CONFIGS.glob("*/*.json")) if path.parent.name != "schema"
          for claim in json.loads(path.read_text()).get("claims", [])]


def test_every_claim_cites_a_place_of_its_paper():
    assert len(CLAIMS) > 150
    wrong = {f"{path.parent.name}/{path.stem}: {claim['says']}": fault for path, claim in CLAIMS
             if (fault := cited.fault(path.parent.name, json.loads(path.read_text())["paper"], claim["source"]))}
    assert wrong == {}


@pytest.mark.parametrize("paper, heading, source", [
    ("vinkler2015", "Vinkler & Havran 2015, Fig. 3(a)", "sec. 6, fig. 3(a)"), ("vinkler2015", "Vinkler & Havran 2015, Table 2", "title and sec. 6, table 2"),
    ("pham2025", "Pham et al. 2025, Fig. 8", "sec. 4.2.1, eqs. (5) and (14)"), ("pham2025", "Pham et al. 2025, Fig. 11", "secs. 3.2 and 5.2.1, fig. 11"),
    ("pham2025", "Pham et al. 2025, sec. 3.1", "sec. 3.1"), ("xmalloc2010", "Huang et al. 2010, Fig. 2", "sec. VI, fig. 2"),
    ("pham2025", "Pham et al. 2025, Fig. 11", "abstract"), ("pham2025", "Pham et al. 2025, Fig. 11", "abstract and sec. 7"),
    ("survey2021", "Winter et al., PPoPP'21, Figs. 9.a and 9.b", "fig. 9.b"), ("halloc2014", "Adinetz & Pleiter 2014", "Benchmark, randomized test")])
def test_right_places(paper, heading, source):
    assert cited.fault(paper, heading, source) == ""


@pytest.mark.parametrize("paper, heading, source, told", [
    ("vinkler2015", "Vinkler & Havran 2015, Fig. 3(a)", "sec. 5, fig. 3(a)", "sec. 5 has nothing of it"),
    ("vinkler2015", "Vinkler & Havran 2015, Fig. 3(a)", "sec. 6, fig. 3(b)", "not the config's figure"),
    ("vinkler2015", "Vinkler & Havran 2015, Fig. 3(d)", "table 1", "names no section"),
    ("pham2025", "Pham et al. 2025, Fig. 12", "sec. 5.2.1, fig. 12", "sec. 5.2.1 has nothing of it"),
    ("pham2025", "Pham et al. 2025, Fig. 4", "sec. 3.2, eq. (4), fig. 4", "sec. 3.2 has nothing of it"),
    ("pham2025", "Pham et al. 2025, Fig. 12", "sec. 5.2.7, fig. 12", "the paper has no sec. 5.2.7"),
    ("pham2025", "Pham et al. 2025, Fig. 12", "somewhere", "names no section"),
    ("survey2021", "Winter et al., PPoPP'21, Figs. 9.a and 9.b", "abstract", "names no section"),
    ("halloc2014", "Adinetz & Pleiter 2014", "Conclusions", "no slide")])
def test_wrong_places(paper, heading, source, told):
    assert told in cited.fault(paper, heading, source)
