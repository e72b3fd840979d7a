"""Judges sentences of papers as predicates over runs."""
