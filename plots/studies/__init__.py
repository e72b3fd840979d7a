"""This package draws pictures over several runs. They show Comb's points, dependence on the allocator, one config against itself, and survival."""
