"""What papers say, as predicates over runs, each with a verdict."""
