"""This package draws figures. Each figure kind is a module."""
