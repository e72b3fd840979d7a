"""The figure kinds, a module each, and drawing what a command line names."""
