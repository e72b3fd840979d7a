"""Which allocator for my job: an answer from the `guide` group, the only source of comparisons across configs.

`table.py` brings the runs of the group into one table of cases and outcomes, `question.py` reads what is asked, `engine.py` ranks,
`differences.py` says how far a cell is from the question, `text.py` writes the answer. The page (plots/webpage) carries the same table; its
static/rank.js ranks as engine.py does, static/question.js has the same words, and a test compares them.
"""
