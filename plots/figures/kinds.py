"""The figure kinds that a config's `plot.kind` may name: one module each."""

from plots.figures import heatmap, histogram, lines, printed_table, scene_table, settings_table, status_matrix, table

# Made from one run: make(run, stem).
KINDS = {"lines": lines.make, "table": table.make, "heatmap": heatmap.make, "histogram": histogram.make,
         "scene_table": scene_table.make, "status_matrix": status_matrix.make}
# Made from a config, and from runs where there are some: make(path of the config, runs, stem).
OF_CONFIGS = {"settings_table": settings_table.make, "printed_table": printed_table.make}
