"""The reference study: where its numbers come from, what is left to measure, what changes between cards, and all that is made of it.

`origins.py` reads what kept runs say about themselves, `mixes.py` names what must not differ, `study_file.py` keeps it in study.json, `pieces.py`
plans measurements, `cards.py` compares two models of cards, `outputs.py` makes everything again.
"""
