"""This module lists the figure kinds that a config's `plot.kind` may name. Each kind of the schema has a module in this folder."""

import importlib

from plots.runs import schema

_MODULES = {kind: importlib.import_module(f"plots.figures.{kind}") for kind in schema.kinds()}
# These kinds draw one run: make(run, stem).
KINDS = {kind: module.make for kind, module in _MODULES.items() if hasattr(module, "make")}
# These kinds draw a config, with its runs if there are any: make_of_config(path of the config, runs, stem).
OF_CONFIGS = {kind: module.make_of_config for kind, module in _MODULES.items() if hasattr(module, "make_of_config")}
