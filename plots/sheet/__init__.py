"""A page of inches: looks, fonts, axes, tables of words, numbers with units. Nothing here knows a run."""
