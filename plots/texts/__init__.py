"""Numbers and tables in texts, written from kept runs and from the sources."""
