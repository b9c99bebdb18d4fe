"""Sources by the place where they are written: `shop.py:orders`, `company.sources:shop`."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from trellis.errors import SourceError, TrellisError, UsageError, nearest
from trellis.sources import Resource, Source


def source_at(where: str, arguments: Mapping[str, str], resources: Sequence[str]) -> Source | Resource:
    """The source or resource of that name; a function is called with the arguments. Raises UsageError."""
    place, colon, name = where.rpartition(":")
    if not colon or not place or not name:
        raise UsageError(f"{where!r}: write FILE:NAME, such as shop.py:orders")
    module = _module(place)
    known = [attribute for attribute in vars(module) if not attribute.startswith("_")]
    if name not in known:
        raise UsageError(f"{place} has no {name!r}{nearest(name, known)}")
    source: Any = getattr(module, name)
    if callable(source) and not isinstance(source, (Source, Resource)):
        try:
            source = source(**arguments)
        except TypeError as bad:
            raise UsageError(f"{where}: {bad}; give its arguments with --with NAME=VALUE") from None
        if inspect.iscoroutine(source):
            source = asyncio.run(source)
    elif isinstance(source, Resource) and arguments:
        source = source(**arguments)
    if not isinstance(source, (Source, Resource)):
        raise UsageError(
            f"{where} is a {type(source).__name__}, no source; make one with @trellis.source or "
            "@trellis.resource"
        )
    if resources and isinstance(source, Source):
        return source.with_resources(*resources)
    if resources and list(resources) != [source.name]:
        raise UsageError(f"{where} is a single resource, {source.name}; leave out --resource")
    return source


def own_fault(bad: Exception) -> TrellisError | None:
    """What went wrong in code that is not ours, or in a service it talks to. None where it was in ours."""
    if isinstance(bad, SyntaxError):
        return UsageError(f"{bad.filename}, line {bad.lineno}: {bad.msg}")
    others = (str(Path(__file__).parents[1]), sys.prefix, sys.base_prefix, "<")
    frames = [
        frame for frame in traceback.extract_tb(bad.__traceback__) if not frame.filename.startswith(others)
    ]
    if not frames:
        return None
    last, what = frames[-1], f"{type(bad).__name__}: {bad}"
    error = SourceError if _is_of_service(bad) else UsageError
    return error(
        f"{last.filename}, line {last.lineno}, in {last.name}: {what}; nothing was loaded, --debug shows "
        "all of it"
    )


def _is_of_service(bad: Exception) -> bool:
    """Whether a connection failed or a server refused, by whatever HTTP library."""
    if isinstance(bad, (FileNotFoundError, IsADirectoryError, NotADirectoryError)):
        return False
    libraries = {kind.__module__.partition(".")[0] for kind in type(bad).__mro__}
    return isinstance(bad, OSError) or not libraries.isdisjoint(("httpx", "aiohttp", "urllib3"))


def _module(place: str) -> ModuleType:
    if not place.endswith(".py"):
        sys.path.insert(0, "")
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as bad:
            raise UsageError(
                f"there is no module {bad.name!r}; run in the folder above it, or give the path of a file"
            ) from None
    file = Path(place)
    if not file.is_file():
        raise UsageError(f"{place}: no such file")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    sys.path.insert(0, str(file.parent))
    spec.loader.exec_module(module)
    return module
