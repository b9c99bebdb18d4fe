"""Sources declared in Python: resources with hints, cursors and state (spec dlt.md, sections 12, 13, 18).

`resource`, `transformer` and `source` declare; `extract.extract` reads what was declared. Nothing here knows
a pipeline or a destination, and Spark, Arrow and pydantic are imported only when their objects come.
"""

from trellis.sources import current, extract, mark
from trellis.sources.cursor import Incremental
from trellis.sources.declaring import resource, source, transformer
from trellis.sources.files import Files, files
from trellis.sources.origins import Source
from trellis.sources.resources import Resource

incremental = Incremental

__all__ = [
    "Files",
    "Incremental",
    "Resource",
    "Source",
    "current",
    "extract",
    "files",
    "incremental",
    "mark",
    "resource",
    "source",
    "transformer",
]
