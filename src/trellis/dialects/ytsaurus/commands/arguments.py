"""The arguments that commands on tables share, and how their texts are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from trellis.cli.arguments import HOW, WHERE, option
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.yson.parser import YsonType, loads
from trellis.dialects.ytsaurus.yson.values import split_attributes

At = Annotated[
    str,
    option(
        "--at", metavar="URL", panel=WHERE, help="The store, yt:FOLDER; it is created if it is not there."
    ),
]
TablePath = Annotated[str, typer.Argument(metavar="PATH", help="Path such as //home/t.", show_default=False)]
RowsPath = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="Path, also with attributes, columns and ranges: '<append=%true>//home/t', '//home/t{k}'.",
        show_default=False,
    ),
]
Source = Annotated[
    list[str],
    option("--src", metavar="PATH...", panel=HOW, help="Input tables; also with columns and ranges."),
]
Target = Annotated[str, option("--dst", metavar="PATH", panel=HOW, help="The table that is written.")]
Spec = Annotated[
    str | None,
    option(
        "--spec",
        metavar="YSON",
        panel=HOW,
        help="Settings: schema_inference_mode, merge_by, force_transform, combine_chunks.",
    ),
]
Recursive = Annotated[
    bool, typer.Option("-r", "--recursive", help="Also what is above or below.", rich_help_panel=HOW)
]
Force = Annotated[
    bool, typer.Option("-f", "--force", help="Replace what is there, or miss it.", rich_help_panel=HOW)
]


class SourcesCommand(TyperCommand):
    """`--src //a //b` takes all paths that follow it, as the original does."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words, is_source = list[str](), False
        for word in args:
            if word.startswith("--"):
                is_source = word == "--src"
                if is_source:
                    continue
            words += ["--src", word] if is_source else [word]
        return super().parse_args(ctx, words)


def parse_yson(text: str, name: str, yson_type: YsonType = "node") -> Any:
    """The value of an option. Raises YtError with its name."""
    try:
        return loads(text, yson_type=yson_type)
    except YtError as error:
        raise YtError(f"{name}: {error.message}") from None


def parse_map(text: str | None, name: str) -> Mapping[str, Any]:
    if text is None:
        return {}
    value, _ = split_attributes(parse_yson(text, name))
    if not isinstance(value, Mapping):
        raise YtError(f"{name} is not a map; expected YSON such as '{{key=value}}'")
    return value


def parse_assignment(text: str, name: str) -> tuple[str, str]:
    """Both sides of `NAME=VALUE`. Raises YtError."""
    left, separator, right = text.partition("=")
    if not (left and separator and right):
        raise YtError(f"{name} is {text!r}; expected NAME=VALUE")
    return left, right
