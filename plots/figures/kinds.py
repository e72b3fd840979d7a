"""The figure kinds that a config's `plot.kind` may name: those of the schema, each the module of its name beside this one."""

import importlib

from plots.runs import schema

_MODULES = {kind: importlib.import_module(f"plots.figures.{kind}") for kind in schema.kinds()}
# Made from one run: make(run, stem).
KINDS = {kind: module.make for kind, module in _MODULES.items() if hasattr(module, "make")}
# Made from a config, and from runs where there are some: make_of_config(path of the config, runs, stem).
OF_CONFIGS = {kind: module.make_of_config for kind, module in _MODULES.items() if hasattr(module, "make_of_config")}
