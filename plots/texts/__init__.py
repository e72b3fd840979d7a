"""This package writes numbers and tables into texts, from kept runs and from the sources."""
