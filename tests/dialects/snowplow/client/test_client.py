"""Registries as readers have them: folders, URLs, resolver configurations."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dialects.snowplow.client.static_site import Site, serve_site
from dialects.snowplow.conftest import EXAMPLES
from trellis.dialects.snowplow.client.cache import CachedRegistry
from trellis.dialects.snowplow.client.http import HttpRegistry
from trellis.dialects.snowplow.client.locator import KEY_VARIABLE, open_registry
from trellis.dialects.snowplow.client.registry import RegistryUnavailable, SchemaNotFound
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey
from trellis.dialects.snowplow.versions.order import AmbiguousOrder
from trellis.errors import SchemaError, UsageError

FAMILY = Family("org.harbor", "vessel_call", "jsonschema", 1)
FOLDER = EXAMPLES / "schemas" / str(FAMILY)
ORDER = ["1-0-0", "1-1-0", "1-2-0", "1-0-1", "1-2-1"]


def key(version: str) -> SchemaKey:
    return SchemaKey.parse(f"iglu:org.harbor/vessel_call/jsonschema/{version}")


def versions(registry: Any, family: Family = FAMILY) -> list[str]:
    return [str(listed.version) for listed in registry.versions(family)]


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_site() as site:
        for file in FOLDER.parent.iterdir():
            site.files[f"/schemas/{FAMILY.vendor}/{FAMILY.name}/jsonschema/{file.name}"] = file.read_bytes()
        yield site


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trellis.dialects.snowplow.client.http.PAUSES", (0, 0))
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


def configure(tmp_path: Path, *repositories: dict[str, Any], **settings: Any) -> str:
    data = {"cacheSize": 500, "repositories": repositories, **settings}
    schema = "iglu:com.snowplowanalytics.iglu/resolver-config/jsonschema/1-0-1"
    (tmp_path / "resolver.json").write_text(json.dumps({"schema": schema, "data": data}))
    return str(tmp_path / "resolver.json")


def http(name: str, url: str, *, priority: int = 0, prefixes: tuple[str, ...] = ()) -> dict[str, Any]:
    connection = {"http": {"uri": url, "apikey": f"key of {name}"}}
    return {"name": name, "priority": priority, "vendorPrefixes": prefixes, "connection": connection}


def embedded(name: str, path: Path) -> dict[str, Any]:
    connection = {"embedded": {"path": str(path)}}
    return {"name": name, "priority": 0, "vendorPrefixes": [], "connection": connection}


def test_seed_s03_a_folder_and_a_static_site_give_the_same(site: Site) -> None:
    folder, static = open_registry(str(EXAMPLES)), open_registry(site.url)
    assert versions(folder) == versions(static) == ORDER
    assert folder.schema(key("1-0-1")) == static.schema(key("1-0-1"))
    assert sorted(folder.list_keys()) == [*map(key, sorted(ORDER))]


def test_seed_s36_a_run_asks_once_for_each_list_and_each_version(site: Site) -> None:
    registry = open_registry(site.url)
    site.paths.clear()
    for _ in range(3):
        registry.versions(FAMILY)
        registry.schema(key("1-0-0"))
        with pytest.raises(SchemaNotFound):
            registry.schema(key("1-9-0"))
    path = "/schemas/org.harbor/vessel_call/jsonschema"
    assert site.paths == [f"{path}/1", f"{path}/1-0-0", f"{path}/1-9-0"]


def test_a_static_site_without_a_list_is_probed(site: Site, recwarn: pytest.WarningsRecorder) -> None:
    del site.files[f"/schemas/{FAMILY}"]
    with pytest.raises(AmbiguousOrder, match=r"the order of 1-0-0, 1-0-1, .* cannot be told"):
        open_registry(site.url).versions(FAMILY)
    assumed = open_registry(site.url, assume_order=True)
    assert versions(assumed) == sorted(ORDER)
    assert [str(warning.message) for warning in recwarn] == [
        f"{FAMILY}: versions are sorted by number, which need not be the order of their creation"
    ]
    del site.files["/schemas/org.harbor/vessel_call/jsonschema/1-0-1"]
    del site.files["/schemas/org.harbor/vessel_call/jsonschema/1-2-1"]
    registry = open_registry(site.url)
    assert versions(registry) == ["1-0-0", "1-1-0", "1-2-0"]
    assert registry.list_keys("org.harbor", "vessel_call") == [*map(key, ["1-0-0", "1-1-0", "1-2-0"])]
    with pytest.raises(UsageError, match=r"has no list of its schemas; name one, such as com.acme/event"):
        registry.list_keys()


def test_not_found_and_unavailable_differ(site: Site) -> None:
    registry = HttpRegistry(site.url)
    with pytest.raises(SchemaNotFound) as missing:
        registry.schema(key("2-0-0"))
    assert str(missing.value) == f"iglu:org.harbor/vessel_call/jsonschema/2-0-0: not found in {site.url}"
    with pytest.raises(SchemaNotFound, match=r"org.harbor/berth/jsonschema/1: no versions in http"):
        registry.versions(Family("org.harbor", "berth", "jsonschema", 1))
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with pytest.raises(RegistryUnavailable, match=r"does not answer \(.*refused.*\); nothing was decided"):
        HttpRegistry(url).schema(key("1-0-0"))


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (500, r"does not answer \(HTTP 500\)"),
        (429, r"does not answer \(HTTP 429\)"),
        (403, "1-0-0 answers HTTP 403; check the key in TRELLIS_REGISTRY_KEY"),
        (301, "redirects to https://elsewhere/; use that URL"),
        (200, r"1-0-0 answers '.*', which is not JSON; expected the URL of an Iglu server or of a static"),
    ],
)
def test_b14_an_answer_that_is_none_is_no_missing_schema(site: Site, status: int, error: str) -> None:
    site.files.clear()
    site.status, site.headers = status, {"Location": "https://elsewhere/"}
    with pytest.raises(RegistryUnavailable, match=error):
        HttpRegistry(site.url).schema(key("1-0-0"))


@pytest.mark.parametrize(
    ("answer", "lists", "error"),
    [
        (b"[]", True, "no versions in http"),
        (b"{}", True, "answers no list of addresses"),
        (b"{}", False, r"1-0-0: \$schema is None"),
    ],
)
def test_b14_a_server_that_gives_one_answer_to_all_is_not_asked_forever(
    site: Site, answer: bytes, lists: bool, error: str
) -> None:
    class Alike(dict[str, bytes]):
        def get(self, path: str, default: object = None) -> bytes | None:
            return answer if lists or not path.endswith("/1") else None

    site.files = Alike()
    with pytest.raises((SchemaError, RegistryUnavailable), match=error):
        HttpRegistry(site.url).versions(Family("org.harbor", "vessel_call", "jsonschema", 1))
    assert len(site.paths) < 5


def test_b14_a_registry_that_is_slow_is_no_missing_schema() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        waiting = f"registry {url} does not answer within 0.05 s; asking it again"
        with pytest.warns(UserWarning, match=waiting), pytest.raises(RegistryUnavailable) as failure:
            HttpRegistry(url, timeout=0.05).schema(key("1-0-0"))
    assert str(failure.value) == (
        f"registry {url} does not answer (timed out); nothing was decided about its schemas: check its URL, "
        "and try again"
    )


def test_a_registry_that_is_busy_for_a_moment_is_asked_again(site: Site) -> None:
    pauses: list[float] = []

    def wait(seconds: float) -> None:
        pauses.append(seconds)
        site.status = None

    site.status = 503
    assert HttpRegistry(site.url, wait=wait).schema(key("1-0-0")).key == key("1-0-0")
    assert pauses == [0]


def test_the_key_of_a_url_is_in_the_environment(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    registry = open_registry(site.url)
    registry.schema(key("1-0-0"))
    assert {*site.keys} == {"secret"}
    assert "secret" not in repr(registry)


def test_documents_of_another_key_are_refused(site: Site) -> None:
    path = "/schemas/org.harbor/vessel_call/jsonschema/1-0-0"
    site.files[path] = site.files[path.replace("1-0-0", "1-0-1")]
    with pytest.raises(SchemaError, match=r"self says iglu:org.harbor/vessel_call/jsonschema/1-0-1; correct"):
        HttpRegistry(site.url).schema(key("1-0-0"))


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Fickle:
    """Answers what it is told to, and counts."""

    answer: SchemaDocument | Exception
    count: int = 0
    name: str = "fickle"
    listed: list[SchemaKey] = field(default_factory=list)

    def schema(self, key: SchemaKey) -> SchemaDocument:
        self.count += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def versions(self, family: Family) -> list[SchemaKey]:
        return self.listed

    def overlay(self, family: Family) -> None:
        return None

    def list_keys(self, vendor: str = "", name: str = "") -> list[SchemaKey]:
        return self.listed


def counts(cached: CachedRegistry, fickle: Fickle, clock: Clock, *times: float) -> list[int]:
    """How often the registry was asked until each of these times."""
    counted = []
    for clock.now in times:
        try:
            cached.schema(key("1-0-0"))
        except (SchemaNotFound, RegistryUnavailable) as error:
            assert error is fickle.answer
        counted.append(fickle.count)
    return counted


def test_failures_are_asked_for_again_after_ever_longer_pauses() -> None:
    clock, fickle = Clock(), Fickle(RegistryUnavailable("down"))
    cached = CachedRegistry(fickle, clock=clock)
    assert counts(cached, fickle, clock, 0, 0.9, 1, 2.9, 3, 6.9, 7) == [1, 1, 2, 2, 3, 3, 4]
    clock, fickle = Clock(), Fickle(SchemaNotFound("none"))
    cached = CachedRegistry(fickle, clock=clock)
    assert counts(cached, fickle, clock, 0, 59, 60, 179, 180) == [1, 1, 2, 2, 3]


def test_an_answer_outlives_its_time_where_the_next_one_fails() -> None:
    document = open_registry(str(EXAMPLES)).schema(key("1-0-0"))
    clock, fickle = Clock(), Fickle(document)
    cached = CachedRegistry(fickle, ttl=60, clock=clock)
    assert counts(cached, fickle, clock, 0, 59, 60) == [1, 1, 2]
    fickle.answer = RegistryUnavailable("down")
    clock.now = 120
    assert cached.schema(key("1-0-0")) is document
    assert fickle.count == 3


def test_a_cache_keeps_no_more_than_its_size() -> None:
    fickle = Fickle(open_registry(str(EXAMPLES)).schema(key("1-0-0")))
    cached = CachedRegistry(fickle, size=1)
    for version in ("1-0-0", "1-0-0", "1-0-1", "1-0-0"):
        cached.schema(key(version))
    assert fickle.count == 3


def test_a_resolver_asks_by_prefix_class_and_priority(site: Site, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with serve_site() as other, serve_site() as third:
        order: list[str] = []
        for name, server in (("last", site), ("first", other), ("middle", third)):
            server.paths = Paths(order, name)
        config = configure(
            tmp_path,
            http("last", site.url, priority=5),
            http("first", other.url, priority=9, prefixes=("org.harbor",)),
            http("middle", third.url, priority=1),
            embedded("folder", empty),
        )
        registry = open_registry(config)
        assert versions(registry) == ORDER
        assert list(dict.fromkeys(order)) == ["first", "middle", "last"]
        assert site.keys == ["key of last"]
        site.paths = []
        assert registry.schema(key("1-0-1")).key == key("1-0-1")
        assert site.paths == ["/schemas/org.harbor/vessel_call/jsonschema/1-0-1"]


class Paths(list[str]):
    """Notes which server was asked, not for what."""

    def __init__(self, order: list[str], name: str) -> None:
        super().__init__()
        self.order, self.name = order, name

    def append(self, path: str) -> None:
        self.order.append(self.name)


def test_list_and_schemas_come_from_one_registry(site: Site, tmp_path: Path) -> None:
    """The folder has an older state of the family, and is asked first."""
    folder = tmp_path / "older"
    (folder / str(FAMILY)).parent.mkdir(parents=True)
    (folder / str(FAMILY)).with_name("1-0-0").write_bytes((FOLDER.parent / "1-0-0").read_bytes())
    config = configure(tmp_path, embedded("folder", folder), http("site", site.url))
    registry = open_registry(config)
    assert versions(registry) == ["1-0-0"]
    with pytest.raises(SchemaNotFound, match=r"1-2-1: not found in folder"):
        registry.schema(key("1-2-1"))
    assert site.paths == []
    registry = open_registry(config)
    assert registry.schema(key("1-2-1")).key == key("1-2-1")
    assert versions(registry) == ORDER


def test_one_that_does_not_answer_counts_where_no_other_has_the_schema(site: Site, tmp_path: Path) -> None:
    down = http("down", "http://127.0.0.1:9", priority=-1)
    registry = open_registry(configure(tmp_path, down, http("site", site.url)))
    assert versions(registry) == ORDER
    with pytest.raises(RegistryUnavailable, match=r"registry down does not answer"):
        registry.versions(Family("org.harbor", "berth", "jsonschema", 1))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"repositories": []}, r"data.repositories is missing or wrong; expected a list of at least one"),
        ({"cacheSize": -1}, "data.cacheSize is missing or wrong; expected a whole number from 0"),
        (
            {"repositories": [{"name": "a", "priority": 0, "connection": {}}]},
            r"data.repositories\[0\].connection is missing or wrong; expected http with uri, or embedded",
        ),
        (
            {"repositories": [http("a", "http://x"), http("a", "http://y")]},
            "two repositories have one name; expected a name for each",
        ),
        ({"repositories": [http("a", "ftp://x")]}, "'ftp://x' is not the URL of a registry: expected one"),
    ],
)
def test_faults_of_a_configuration(tmp_path: Path, change: dict[str, Any], error: str) -> None:
    config = configure(tmp_path, http("a", "http://127.0.0.1:9"), cacheTtl=60)
    document = json.loads(Path(config).read_text())
    document["data"].update(change)
    Path(config).write_text(json.dumps(document))
    with pytest.raises(UsageError, match=error):
        open_registry(config)
