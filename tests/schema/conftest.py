"""What the schema tests share."""

from __future__ import annotations

import pytest

from trellis.schema.naming import Naming, get_naming


@pytest.fixture
def snake() -> Naming:
    return get_naming()
