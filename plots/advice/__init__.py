"""This package answers which allocator suits a job, from the results of the group `guide`.

* `newest.py` finds the runs of the group.
* `table.py` makes one table of cases (`cases.py`) and outcomes from these runs.
* `question.py` reads the question.
* `engine.py` ranks the allocators.
* `differences.py` describes how a measured cell differs from the question.
* `text.py` writes the answer.
* `tried.py` ranks allocators for a recorded application, from a run of `allocbench try`.

The HTML page (plots/webpage) contains the same table. Its static/rank.js ranks as engine.py does, and
static/question.js uses the same words as differences.py. A test compares Python and JavaScript.
"""
