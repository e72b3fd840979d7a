"""This package resolves what a figure shows of a run: cells, series and captions."""
