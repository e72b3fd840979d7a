"""This package draws pictures over several runs: Comb's points, dependence on the allocator, one config against itself, survival."""
