"""This package answers which allocator suits a job, from the results of the group `guide`.

The group `guide` is the only source of comparisons across configs.

* `table.py` makes one table of cases and outcomes from the runs of the group.
* `question.py` reads the question.
* `engine.py` ranks the allocators.
* `differences.py` describes how a measured cell differs from the question.
* `text.py` writes the answer.

The HTML page (plots/webpage) contains the same table. Its static/rank.js ranks as engine.py does, and
static/question.js uses the same words as differences.py. A test compares them.
"""
