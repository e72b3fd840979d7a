"""This package judges sentences of papers as predicates over runs."""
