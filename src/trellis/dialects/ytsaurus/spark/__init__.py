"""Tables of a store as frames of Spark, and back."""

from __future__ import annotations

from trellis.dialects.ytsaurus.spark.joins import merge_join
from trellis.dialects.ytsaurus.spark.session import enable_yt

__all__ = ["enable_yt", "merge_join"]
