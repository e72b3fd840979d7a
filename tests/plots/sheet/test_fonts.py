"""Tests that texts of configs and results appear whole and unchanged in figures, in a font with their characters, for
any matplotlib settings.
"""

import hashlib
import os
import subprocess
import sys

import pytest
import synthetic

_HOSTILE = """\
text.usetex: True
figure.facecolor: black
axes.facecolor: black
savefig.facecolor: black
savefig.bbox: tight
text.color: white
font.family: monospace
font.size: 30
axes.prop_cycle: cycler('color', ['ff0000'])
lines.linestyle: --
path.sketch: 5, 100, 2
svg.fonttype: none
"""
_KEYS = {"status_matrix": {}, "heatmap": {"x": "threads", "y": "alloc", "metric": "time", "reference": "best"}}


def _run(folder, label, kind="lines"):
    config = {"name": "test/fig", "description": f"A test of {label}", "allocators": [{"id": "c_malloc", "label": label}],
              "plot": {"kind": kind, **_KEYS.get(kind, {"x": "threads", "y": "alloc"})}}
    return synthetic.write(folder, config, [synthetic.cell("c_malloc", {"threads": threads}, values={("alloc", "time"): 1e-6 * threads}) for threads in (1, 2)])


def _drawn(root, run, out, **environment):
    told = subprocess.run([sys.executable, "-B", "-m", "plots", str(run), "--out", str(out), "--formats", "png,svg"], cwd=root, env={**os.environ, **environment},
                          capture_output=True, encoding="utf-8", timeout=300)
    assert told.returncode == 0, told.stderr
    digest = {path.suffix: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir()}
    return digest, told.stderr


def test_the_matplotlibrc_of_the_user_changes_nothing(root, tmp_path):
    run = _run(tmp_path / "run", "label")
    (tmp_path / "config" / "matplotlib").mkdir(parents=True)
    for path in (tmp_path / "hostile", tmp_path / "config" / "matplotlib" / "matplotlibrc"):
        path.write_text(_HOSTILE)
    wanted, _ = _drawn(root, run, tmp_path / "plain")
    assert _drawn(root, run, tmp_path / "variable", MATPLOTLIBRC=str(tmp_path / "hostile"))[0] == wanted
    assert _drawn(root, run, tmp_path / "own", XDG_CONFIG_HOME=str(tmp_path / "config"))[0] == wanted


def _texts(figure):
    from matplotlib.text import Text

    return [text for text in figure.findobj(Text) if text.get_text()]


@pytest.mark.parametrize("kind", ["lines", "table"])
@pytest.mark.parametrize("label", ["cost $5 vs $6", r"$\frac{1$", "$x_1^2$"])
def test_a_dollar_is_a_dollar(tmp_path, kind, label):
    from plots.figures import kinds
    from plots.runs import results

    made = kinds.KINDS[kind](results.read_run(_run(tmp_path, label, kind)), "stem")
    assert made.write(tmp_path, ("png",))
    shown = [text for text in _texts(made.page.figure) if label in text.get_text()]
    assert shown and not any(text.get_parse_math() for text in shown)


def _font_with(folder, character):
    """Makes a font of one character, a square."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for place in ((0, 900), (900, 900), (900, 0)):
        pen.lineTo(place)
    pen.closePath()
    glyph, names = pen.glyph(), [".notdef", "one"]
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(names)
    font.setupCharacterMap({ord(character): "one"})
    font.setupGlyf({name: glyph for name in names})
    font.setupHorizontalMetrics({name: (1000, 0) for name in names})
    font.setupHorizontalHeader(ascent=900, descent=-100)
    font.setupNameTable({"familyName": "Test One", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    folder.mkdir(parents=True)
    font.save(folder / "one.ttf")


def test_a_character_is_drawn_in_a_font_that_has_it(root, tmp_path):
    pytest.importorskip("fontTools.fontBuilder")
    character = "\U000f1234"  # a private-use character, which no other font has
    run = _run(tmp_path / "run", f"label {character}")
    without, told = _drawn(root, run, tmp_path / "without")
    assert told.count("\n") == 1 and f"no installed font has {character}, which appear as boxes. Install fonts-noto-cjk" in told
    _font_with(tmp_path / "data" / "fonts", character)
    found, told = _drawn(root, run, tmp_path / "with", XDG_DATA_HOME=str(tmp_path / "data"))
    assert told == "" and found[".png"] != without[".png"] and found[".svg"] != without[".svg"]


def test_long_words_are_broken_and_others_are_not():
    from plots.sheet import ticks

    assert ticks.wrapped("x" * 100, 7.0, 2.0) == ["x" * 34, "x" * 34, "x" * 32]
    assert ticks.wrapped("one two", 7.0, 0.1) == ["one", "two"]
    assert ticks.cut("short", 7.0, 2.0) == "short"
    cut = ticks.cut("a" * 100 + "z" * 100, 7.0, 2.0)
    assert cut.startswith("aaa") and "a…z" in cut and cut.endswith("zzz") and ticks.text_width(cut, 7.0) <= 2.0


@pytest.mark.parametrize("kind", ["lines", "table", "heatmap", "status_matrix"])
@pytest.mark.parametrize("label", ["letters" * 29, "some words " * 18])
def test_a_long_label_stays_in_the_figure(tmp_path, kind, label):
    from plots.figures import kinds
    from plots.runs import results

    run = results.read_run(_run(tmp_path, label, kind))
    figure = kinds.KINDS[kind](run, "stem").page.figure
    figure.canvas.draw()
    width = figure.bbox.width
    for text in _texts(figure):
        if text.get_visible() and text.get_text()[:4] in ("lett", "some"):
            box = text.get_window_extent()
            assert -1 <= box.x0 and box.x1 <= width + 1, text
