"""What a run shows in a figure: cells, series, captions, resolved once from the run and its plot."""
