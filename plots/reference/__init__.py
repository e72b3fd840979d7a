"""This package manages the reference study: the origin of its numbers, the plan of measurements, comparisons of cards, and all
derived files.

* `origins.py` reads where the numbers of kept runs come from.
* `mixes.py` reports values that must not differ within a study.
* `study_file.py` writes the origins to study.json.
* `pieces.py` plans measurements, with the forecasts of `forecast.py`.
* `cards.py` compares two models of cards.
* `provenance.py` prints the origins.
* `outputs.py` makes all derived files again, and `index.py` writes the index of these files.
"""
