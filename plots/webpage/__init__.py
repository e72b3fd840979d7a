"""This package makes one self-contained HTML page from stored results: first the answer, then the evidence.

`build.py` assembles the page from parts that the other modules make. The charts are data for Plotly. The folder static/
contains the page, its style, and the scripts for filters and ranking.
"""
