"""This module writes the files of all commands."""

from __future__ import annotations

from pathlib import Path

from allocbench.errors import UsageError


def write(path: Path, content: str | bytes) -> Path:
    """Writes a file and the missing folders above it. Returns the path."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Paths that are not UTF-8 pass unchanged.
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}. Choose another --out, or free space and allow writing there.") from None
    return path
