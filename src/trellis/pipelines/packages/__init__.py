"""Loads that were extracted and staged but that the destination refused: kept, and tried first next time."""

from trellis.pipelines.packages.document import Package
from trellis.pipelines.packages.store import Packages

__all__ = ["Package", "Packages"]
