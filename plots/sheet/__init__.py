"""This package draws pages in inches: looks, fonts, axes, tables of words, numbers with units. This package does not depend on
runs.
"""
