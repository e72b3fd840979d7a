"""Draws figures. Each figure kind is a module."""
