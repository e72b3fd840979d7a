"""Reads stored runs as tables, and names their parts."""
