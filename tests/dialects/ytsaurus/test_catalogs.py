"""Where the catalogue of a store is."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

import pytest

from destinations.postgres_server import Server
from dialects.ytsaurus.test_tables import create, read
from trellis.dialects.ytsaurus.store.store import Store
from trellis.errors import StorageError, UsageError


def error_of(url: str) -> str:
    with pytest.raises((UsageError, StorageError)) as error:
        Store.open(url)
    return str(error.value)


def test_a_folder_notes_its_catalogue(postgres: Server, database: str, tmp_path: Path) -> None:
    url = postgres.url(database)
    shared = f"yt:{tmp_path}/store?catalog={quote(url)}"
    with Store.open(f"{shared}&enable_descending=true") as store:
        create(store, "[k]", rows="{k=1}")
    with Store.open(shared) as store:
        assert (read(store), store.switches.enable_descending) == ("{k=1}", True)
    assert not (tmp_path / "store/catalog.db").exists()
    unnamed = error_of(f"yt:{tmp_path}/store")
    assert unnamed.startswith(f"the catalogue of {tmp_path}/store is not in the folder, but in postgresql://")
    assert "***@" in unnamed and unnamed.endswith(f"; open the store with yt:{tmp_path}/store?catalog=URL")
    other = postgres.new_database()
    try:
        assert "has the chunks of another catalogue" in error_of(
            f"yt:{tmp_path}/store?catalog={quote(postgres.url(other))}"
        )
    finally:
        postgres.drop_database(other)


def test_a_database_that_cannot_be_reached(tmp_path: Path) -> None:
    message = error_of(f"yt:{tmp_path}/s?catalog=postgresql://me:secret@127.0.0.1:1/none")
    assert message.startswith("the catalogue postgresql://me:***@127.0.0.1:1/none cannot be used: ")
    assert "secret" not in message


def test_catalogues_of_other_versions(tmp_path: Path) -> None:
    Store.open(f"yt:{tmp_path}/s").close()
    with sqlite3.connect(tmp_path / "s/catalog.db") as database:
        database.execute("UPDATE catalog SET format = '9'")
    assert error_of(f"yt:{tmp_path}/s") == (
        f"the catalogue {tmp_path}/s/catalog.db has the version 9, and this Trellis writes 2; use the "
        "version of Trellis that made it"
    )


def test_a_catalogue_that_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s/catalog.db").write_bytes(b"no database" * 100)
    assert error_of(f"yt:{tmp_path}/s") == (
        f"the catalogue {tmp_path}/s/catalog.db cannot be used: file is not a database"
    )
