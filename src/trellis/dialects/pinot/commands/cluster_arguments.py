"""The arguments of the commands that talk to a cluster."""

from __future__ import annotations

from typing import Annotated

from trellis.cli.arguments import option

CLUSTER = "Cluster"
Url = Annotated[
    str | None,
    option(
        "--controller",
        metavar="URL",
        panel=CLUSTER,
        help="Controller, such as http://localhost:9000. TRELLIS_PINOT_TOKEN, or TRELLIS_PINOT_USER set to "
        "name:password, are sent to it.",
    ),
]
