"""This package has the parts of pages: looks, fonts, axes, tables of words, and numbers with units. It does not depend on runs."""
