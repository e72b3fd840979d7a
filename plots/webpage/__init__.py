"""One self-contained HTML page from stored results: first the answer, then the evidence. `build.py` puts it together; every other
module makes one section. Charts are Plotly's, made here as data; static/ holds the page, its style, and the scripts for filters and ranking."""
