"""Stored runs as tables, and what their parts are called."""
