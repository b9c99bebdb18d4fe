"""Sources declared in Python: resources with hints, cursors and state.

`resource`, `transformer` and `source` declare; `extraction` reads what was declared. Nothing here knows
a pipeline or a destination, and Spark, Arrow and pydantic are imported only when their objects come.
"""

from trellis.sources import current
from trellis.sources import item_hints as mark
from trellis.sources.cursors.cursor import Incremental
from trellis.sources.decorators import resource, source, transformer
from trellis.sources.files import Files, files
from trellis.sources.resources import Resource
from trellis.sources.secrets import secret
from trellis.sources.sources import Source

incremental = Incremental

__all__ = [
    "Files",
    "Incremental",
    "Resource",
    "Source",
    "current",
    "files",
    "incremental",
    "mark",
    "resource",
    "secret",
    "source",
    "transformer",
]
