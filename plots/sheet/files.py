"""This module writes the files of all commands."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from allocbench.errors import UsageError


def require_folder(path: Path) -> None:
    """Makes the missing folders above a file. Raises UsageError if the file cannot be written there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise _unwritable(path, error) from None


def write(path: Path, content: str | bytes) -> Path:
    """Writes a file and the missing folders above it. Returns the path."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Paths that are not UTF-8 pass unchanged.
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise _unwritable(path, error) from None
    return path


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path} cannot be written: {error.strerror}. Choose another --out, or free space and allow writing there.")
