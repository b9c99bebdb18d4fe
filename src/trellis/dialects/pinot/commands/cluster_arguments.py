"""The arguments of the commands that talk to a cluster."""

from __future__ import annotations

from typing import Annotated

from trellis.cli.arguments import option

CLUSTER = "Cluster"
Url = Annotated[
    str | None,
    option("--controller", metavar="URL", panel=CLUSTER, help="Controller, such as http://localhost:9000."),
]
Header = Annotated[
    list[str] | None,
    option(
        "--header",
        metavar="NAME:VALUE",
        panel=CLUSTER,
        help="Header of every request; or set TRELLIS_PINOT_TOKEN, or TRELLIS_PINOT_USER to name:password.",
    ),
]
