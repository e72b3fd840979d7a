"""This package draws figures. Each figure kind has a module."""
