"""The command line: thin commands, each over one public function. `main` is the entry point."""

from __future__ import annotations

from typing import Any


def main() -> None:
    """Run `trellis` and end the process with its exit code."""
    import sys
    import warnings

    warnings.showwarning = print_warning  # before the commands of other distributions are imported
    from trellis.cli.app import run

    sys.exit(run(sys.argv[1:]))


def print_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print a warning for users as one line on stderr, and no other."""
    import sys

    if issubclass(category, UserWarning):
        print(f"note: {message}", file=sys.stderr)
