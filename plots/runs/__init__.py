"""This package reads stored runs as tables, and names their parts."""
