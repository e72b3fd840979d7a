"""This module starts and ends the program. An error becomes a message and an exit code. As with `allocbench`, the
output is UTF-8 in every locale.

When this module is loaded, it imports only the standard library, so that it can name a missing library.
"""

from __future__ import annotations

import importlib
import io
import os
import sys

# Libraries that every command needs. A library comes after the libraries that it imports.
_NEEDED = ("numpy", "PIL.Image", "matplotlib", "pandas", "jsonschema")
# Only verdicts, effects and slopes need scipy. Their functions import it, because it loads slowly.
_SOMETIMES_NEEDED = ("scipy.stats",)
# Debian packages of modules. Other packages are called python3-<module>.
_PACKAGES = {"PIL": "python3-pil", "dateutil": "python3-dateutil", "pytz": "python3-tz", "kiwisolver": "python3-kiwisolver",
             "mpl_toolkits": "python3-matplotlib", "attr": "python3-attr"}
_INTERRUPTED = 130


def program() -> int:
    """Runs the command line and returns the exit code."""
    _in_utf8()
    out = _replaced("stdout")
    _replaced("stderr")
    try:
        problem = _missing(_NEEDED)
        if problem:
            return _refuse(problem)
        from plots.commands.cli import main

        code = main()
    except ImportError:
        problem = _missing(_SOMETIMES_NEEDED)
        if not problem:
            raise
        return _refuse(problem)
    except SystemExit as end:  # --help
        code = end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:
        print("plots: interrupted.", file=sys.stderr)
        return _INTERRUPTED
    if sys.stdout:
        sys.stdout.flush()
    if out and out.failure:
        print(f"plots: Cannot write to stdout: {out.failure.strerror}. Redirect it to another place.", file=sys.stderr)
        return 3
    return code


def _in_utf8() -> None:
    """Restarts Python in its UTF-8 mode if the locale's encoding is not UTF-8, because paths and file contents are
    UTF-8.
    """
    if sys.getfilesystemencoding() != "utf-8":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


class Stream(io.RawIOBase):
    """A stream writes to stdout or stderr. It drops what it cannot write, so that all files are still made.

    `failure` is the error of a lost write, or None. A pipe that the reader closed (`| head -1`) is not a failure.
    """

    def __init__(self, number: int):
        self._number, self._gone, self.failure = number, False, None

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return os.isatty(self._number)

    def write(self, data) -> int:
        try:
            return len(data) if self._gone else os.write(self._number, data)
        except BrokenPipeError:
            self._gone = True
        except OSError as error:
            self._gone, self.failure = True, error
        return len(data)


def _replaced(name: str) -> Stream | None:
    """Replaces sys.stdout or sys.stderr by a Stream. Returns None if the stream is closed, because its descriptor may
    belong to another file.
    """
    old = getattr(sys, name)
    if old is None:
        if name == "stderr":  # if sys.stderr is None, print() writes to stdout
            sys.stderr = open(os.devnull, "w", encoding="utf-8")
        return None
    made = Stream(old.fileno())
    # Paths that are not UTF-8 pass unchanged.
    setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(made), encoding="utf-8", errors="surrogateescape", line_buffering=True))
    return made


def _refuse(problem: str) -> int:
    """Prints the error and returns its exit code."""
    print(f"plots: {problem}", file=sys.stderr)
    return 2


def _missing(modules: tuple[str, ...]) -> str:
    """Returns what to do about the first library that cannot be loaded, or an empty text if all load."""
    for name in modules:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            return lacking(error.name or name)
        except Exception as error:  # the library or its settings are damaged (MPLBACKEND, matplotlibrc)
            reason = str(error).strip().splitlines()
            return (f"the Python library {name.partition('.')[0]} cannot be loaded ({reason[0] if reason else type(error).__name__}). "
                    f"Install it again: apt-get install --reinstall {package_of(name)}")
    return ""


def lacking(module: str) -> str:
    """Returns the error for a module that is not installed."""
    return (f"{sys.executable} has no module {module.partition('.')[0]!r}. Install {package_of(module)} (`make dependencies` installs all packages), "
            "or use Debian's interpreter: /usr/bin/python3 -m plots ...")


def package_of(module: str) -> str:
    """Returns the Debian package of a Python module."""
    first = module.partition(".")[0]
    return _PACKAGES.get(first, f"python3-{first}")
