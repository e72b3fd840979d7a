"""How the program starts and ends: what stops it is one sentence and an exit code, and its output is UTF-8 in every locale, as that of
`allocbench` is. Nothing here needs a library, so that it can say which one is missing."""

from __future__ import annotations

import importlib
import io
import os
import sys

_NEEDED = ("numpy", "PIL.Image", "matplotlib", "scipy.stats", "pandas", "jsonschema")  # those that need others after these
_PACKAGES = {"PIL": "python3-pil", "dateutil": "python3-dateutil", "pytz": "python3-tz", "kiwisolver": "python3-kiwisolver",
             "mpl_toolkits": "python3-matplotlib", "attr": "python3-attr"}  # where Debian's name is not python3-<module>
_INTERRUPTED = 130


def program() -> int:
    """Runs the command line; the exit code."""
    _in_utf8()
    out = _replaced("stdout")
    _replaced("stderr")
    try:
        problem = _missing()
        if problem:
            print(f"plots: {problem}", file=sys.stderr)
            return 2
        from plots.commands.cli import main

        code = main()
    except SystemExit as end:  # --help
        code = end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:
        print("plots: interrupted.", file=sys.stderr)
        return _INTERRUPTED
    if sys.stdout:
        sys.stdout.flush()
    if out and out.failure:
        print(f"plots: Cannot write the output: {out.failure.strerror}. Send it to another place.", file=sys.stderr)
        return 3
    return code


def _in_utf8() -> None:
    """Starts Python again in its UTF-8 mode where the locale has another encoding: paths and texts of files are UTF-8."""
    if sys.getfilesystemencoding() != "utf-8":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


class Stream(io.RawIOBase):
    """A standard stream. It swallows what cannot be written, so that all files are made; `failure` says why, unless the reader
    has seen enough (`| head -1`)."""

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
    """Puts a Stream in place of sys.stdout or sys.stderr. None where it is closed: its number may be that of another file."""
    old = getattr(sys, name)
    if old is None:
        if name == "stderr":  # print() would take stdout
            sys.stderr = open(os.devnull, "w", encoding="utf-8")
        return None
    made = Stream(old.fileno())
    # Paths that are not UTF-8 pass unchanged.
    setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(made), encoding="utf-8", errors="surrogateescape", line_buffering=True))
    return made


def _missing() -> str:
    """What to do about the first library that cannot be loaded; empty where all are there."""
    for name in _NEEDED:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            return lacking(error.name or name)
        except Exception as error:  # damaged, or its settings are (MPLBACKEND, matplotlibrc)
            reason = str(error).strip().splitlines()
            return (f"the Python library {name.partition('.')[0]} cannot be loaded ({reason[0] if reason else type(error).__name__}). "
                    f"Install it again: apt-get install --reinstall {package_of(name)}")
    return ""


def lacking(module: str) -> str:
    """The sentence about a module that is not installed."""
    return (f"{sys.executable} has no module {module.partition('.')[0]!r}. Install {package_of(module)} (`make dependencies` installs all packages), "
            "or use Debian's interpreter: /usr/bin/python3 -m plots ...")


def package_of(module: str) -> str:
    """The Debian package of a Python module."""
    first = module.partition(".")[0]
    return _PACKAGES.get(first, f"python3-{first}")
