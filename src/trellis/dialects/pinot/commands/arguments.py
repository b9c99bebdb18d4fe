"""The arguments that several commands have."""

from __future__ import annotations

from typing import Annotated

from trellis.cli.arguments import HOW, option

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
TableConfig = Annotated[
    list[str] | None,
    option("--table-config", metavar="FILE", panel=HOW, help="Table config, JSON; again for a second one."),
]
