"""The command line: thin commands, each over one public function. `main` is the entry point."""

from __future__ import annotations


def main() -> None:
    """Run `trellis` and end the process with its exit code."""
    import sys
    import warnings

    from trellis.cli.output.console import print_warning
    from trellis.cli.output.standard_output import name_standard_output

    name_standard_output()
    warnings.showwarning = print_warning  # before the commands of other distributions are imported
    from trellis.cli.app import run

    sys.exit(run(sys.argv[1:]))
