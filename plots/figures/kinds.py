"""The figure kinds a config's `plot.kind` may name: one module each, made from one run."""

from plots.figures import heatmap, histogram, lines, scene_table, status_matrix, table

KINDS = {"lines": lines.make, "table": table.make, "heatmap": heatmap.make, "histogram": histogram.make,
         "scene_table": scene_table.make, "status_matrix": status_matrix.make}
