"""This package draws the content of a panel of a line figure, and the strip above it."""
