"""This package draws pictures of several runs: Comb's points, dependence on the allocator, one config against itself,
and survival."""
