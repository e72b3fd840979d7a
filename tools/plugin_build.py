"""Compiles single plug-ins for checking workers as the build does, with additional options."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


class PluginBuild:
    """A plug-in build is a build folder that contains the checking workers and the plug-ins."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()

    def program(self, name):
        return self.folder / "bin" / name

    def plugins(self):
        return sorted(path.stem for path in self.program("plugins/check").glob("*.so"))

    def workers_in(self, folder, variants):
        """Copies the workers into a folder, with empty plug-in folders. Returns the variants that exist."""
        found = [variant for variant in variants if self.program(f"allocbench-worker-{variant}").exists()]
        for variant in found:
            (folder / "plugins" / variant).mkdir(parents=True)
            shutil.copy(self.program(f"allocbench-worker-{variant}"), folder)
        return found

    def _ninja(self, tool, target):
        return subprocess.run(["ninja", "-C", str(self.folder), "-t", tool, target], capture_output=True, text=True, check=True).stdout

    def _commands(self, plugin, variant):
        """Returns the command lines (compile, link) as lists of words."""
        lines = self._ninja("commands", f"allocbench_plugin_{plugin}_{variant}").splitlines()
        compiling = next(line for line in lines if line.endswith(f"/allocbench_plugin_{plugin}_{variant}.cpp"))
        linking = next(line for line in lines if f" -o bin/plugins/{variant}/{plugin}.so " in line)
        return shlex.split(compiling), shlex.split(linking.split("&&")[1])

    def unit(self, plugin):
        """Returns the source text of the plug-in's unit."""
        return pathlib.Path(self._commands(plugin, "check")[0][-1]).read_text(encoding="utf-8")

    def header(self, plugin):
        """Returns the header that registers the plug-in's allocators."""
        return re.search(r'#include "(.+)"', self.unit(plugin)).group(1)

    def headers(self, plugin):
        """Returns the headers of allocators/ that the plug-in includes, as paths from the root."""
        unit = f"allocbench_plugin_{plugin}_check"
        deps = self._ninja("deps", f"allocators/CMakeFiles/{unit}.dir/plugins/{unit}.cpp.o")
        # A compiler cache writes paths relative to the build folder.
        names = {(self.folder / line.strip()).resolve() for line in deps.splitlines()[1:]}
        paths = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "allocators").rglob("*.hpp") if path in names)
        assert paths, f"{plugin} is not built in {self.folder}"
        return [path for path in paths if not path.startswith(("allocators/support/contract/", "allocators/support/adaptors/"))]

    def compile(self, plugin, variant, unit, target, more=(), sources=()):
        """Compiles a unit and returns whether it compiles. `sources` are folders of headers that come before the
        project's folders.
        """
        words = self._commands(plugin, variant)[0]
        options = words[:words.index("-MD")]
        first = next(i for i, word in enumerate(options) if word.startswith("-I"))
        options[first:first] = [f"-I{folder}" for folder in sources]
        # The compiler cache is off, because it does not notice that a header hides another one and would return an old
        # object.
        done = subprocess.run([*options, "-w", "-Wno-error", *more, "-o", str(target), "-c", str(unit)], cwd=self.folder, capture_output=True,
                              env={**os.environ, "CCACHE_DISABLE": "1"}, check=False)
        return done.returncode == 0

    def link(self, plugin, variant, target, folder, more=()):
        """Removes all plug-ins from the plug-in folder beside the workers in `folder`, and links this plug-in into it."""
        words = self._commands(plugin, variant)[1]
        interface = [word for word in words if word.endswith(f"interface_{variant}.cpp.o")]
        options = [word for word in words[:words.index("-o")] if not word.endswith(".o")]
        plugins = folder / "plugins" / variant
        for old in plugins.iterdir():
            old.unlink()
        subprocess.run([*options, *more, "-o", str(plugins / f"{plugin}.so"), *interface, str(target)], cwd=self.folder, check=True)
