"""Pictures over several runs: Comb against the best other, dependence on the allocator, one config against itself, survival."""
