"""This package implements the command line."""
