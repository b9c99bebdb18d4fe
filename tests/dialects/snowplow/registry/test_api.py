"""The HTTP API of the registry (docs/conformance/snowplow.md, R-94 to R-98), in both stores."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from dialects.snowplow.families import object_schema, text
from dialects.snowplow.registry.conftest import NAME, Api, document, properties
from trellis.dialects.snowplow.kind.verdict import KindPolicy
from trellis.dialects.snowplow.registry.settings import ServerSettings
from trellis.dialects.snowplow.versions.succession import SuccessionRules

ORDER = "1-0-0 1-1-0 1-2-0 1-0-1 1-2-1"
BERTH = {"berth": text(12)}


def uris(versions: str, name: str = "vessel_call") -> list[str]:
    return [f"iglu:org.harbor/{name}/jsonschema/{version}" for version in versions.split()]


def message(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["message"]


def test_r94_lists_are_in_the_order_of_creation(api: Api) -> None:
    api.publish_all(ORDER)
    api.publish_all("1-0-0", name="berth")
    api.publish_all("2-0-0")
    assert api.get(f"{NAME}/1").json() == uris(ORDER)
    assert api.get(NAME).json() == uris(f"{ORDER} 2-0-0")
    assert api.get("/api/schemas/org.harbor/vessel_call").json() == uris(f"{ORDER} 2-0-0")
    listed = [*uris(ORDER), *uris("1-0-0", "berth"), *uris("2-0-0")]
    assert api.get("/api/schemas").json() == api.get("/api/schemas/org.harbor/").json() == listed
    assert message(api.get("/api/schemas/org.quay")) == (404, "No schemas available")
    assert message(api.get(f"{NAME}/3")) == (404, "No schemas available")


def test_lists_of_an_empty_registry(api: Api) -> None:
    answer = api.get("/api/schemas", key=None)
    assert (answer.status_code, answer.json()) == (200, [])


def test_r95_private_schemas_are_hidden(api: Api) -> None:
    api.publish_all("1-0-0")
    api.publish_all("1-0-0", name="berth", public=True)
    for key in (None, api.key("org.harborx"), "00000000-0000-4000-8000-000000000000"):
        assert message(api.get(f"{NAME}/1-0-0", key=key)) == (404, "The schema is not found")
        assert message(api.get(f"{NAME}/1", key=key)) == (404, "No schemas available")
        assert api.get("/api/schemas", key=key).json() == uris("1-0-0", "berth")
    for key in (api.key("org.harbor"), api.key("org"), api.key("")):
        assert api.get(f"{NAME}/1-0-0", key=key).status_code == 200


def test_r96_requests_that_cannot_be_taken(api: Api) -> None:
    assert message(api.get("/api/schemas", key="abc")) == (400, "Invalid UUID for ApiKey")
    answer = api.call("PUT", f"{NAME}/1-0-0", document("1-0-0", name="berth"))
    assert (answer.status_code, answer.json()) == (
        400,
        {
            "message": "Mismatch: the address of the schema in the URL differs from that in its self",
            "uriSchemaKey": "iglu:org.harbor/vessel_call/jsonschema/1-0-0",
            "payloadSchemaKey": "iglu:org.harbor/berth/jsonschema/1-0-0",
        },
    )
    assert message(api.call("POST", "/api/schemas", b"x" * 100_001)) == (
        413,
        "The body has more than 100000 bytes",
    )
    assert api.call("POST", "/api/schemas", b"x" * 100_000).status_code == 422


def test_r97_delete_needs_patches_and_the_super_key(make_api: Callable[..., Api]) -> None:
    api = make_api()
    api.publish_all("1-0-0 1-0-1")
    path = f"{NAME}/1-0-0"
    assert message(api.call("DELETE", path)) == (
        405,
        "DELETE is forbidden on this registry: it does not allow patches",
    )
    patching = make_api(ServerSettings(succession=SuccessionRules(patches_allowed=True)))
    writer = patching.key("org.harbor", "CREATE_VENDOR")
    assert patching.call("DELETE", path, key=writer).status_code == 401
    assert message(patching.call("DELETE", path)) == (200, "Schema deleted")
    assert patching.get(f"{NAME}/1").json() == api.get(f"{NAME}/1").json() == uris("1-0-1")
    assert message(patching.call("DELETE", path)) == (404, "The schema is not found")


def test_r98_validation_of_an_instance(api: Api) -> None:
    api.publish_all("1-0-0")
    uri = uris("1-0-0")[0]
    path = "/api/validation/validate/instance"
    answer = api.call("POST", path, {"schema": uri, "data": {"berth": "K7 north, at the end"}})
    (fault,) = answer.json()["report"]
    assert (answer.status_code, fault["keyword"], fault["path"]) == (200, "maxLength", "/berth")
    assert message(api.call("POST", path, {"schema": uri, "data": {"berth": "K7"}})) == (
        200,
        f"Instance is valid {uri}",
    )
    assert api.call("POST", path, {"schema": uri, "data": {}}, key=None).status_code == 404
    assert api.call("POST", path, {"data": {}}).status_code == 400


def test_a_schema_is_handed_out_as_it_was_written(api: Api) -> None:
    body = b'{"type":"object","properties":{"z":{"type":"number","minimum":7.50},"a":{"type":"null"}}}'
    answer = api.call("PUT", f"{NAME}/1-0-0", body)
    assert (answer.status_code, answer.json()) == (
        201,
        {
            "message": "Schema created",
            "updated": False,
            "location": "iglu:org.harbor/vessel_call/jsonschema/1-0-0",
            "status": 201,
            "notes": [],
        },
    )
    stored = api.get(f"{NAME}/1-0-0").text
    assert stored.endswith(
        '"version":"1-0-0"},"type":"object","properties":{"z":{"type":"number","minimum":7.50},'
        '"a":{"type":"null"}}}'
    )
    assert stored.startswith('{"$schema":"http://iglucentral.com/schemas/com.snowplowanalytics.self-desc/')


def test_representations(api: Api) -> None:
    api.publish_all("1-0-0", public=True)
    path = f"{NAME}/1-0-0"
    assert api.get(f"{path}?repr=uri").json() == uris("1-0-0")[0]
    canonical = api.get(f"{path}?repr=canonical").json()
    assert canonical == api.get(path).json() == document("1-0-0")
    metadata = api.get(f"{path}?repr=meta").json()["metadata"]
    assert metadata["isPublic"] is True
    assert metadata["createdAt"] == metadata["updatedAt"]
    assert len(metadata["createdAt"]) == len("2024-03-09T05:06:07.123456Z")
    assert api.get("/api/schemas?repr=canonical").json() == [canonical]
    assert message(api.get(f"{path}?repr=all")) == (
        400,
        "unknown repr 'all'; expected uri, canonical or meta",
    )
    assert api.get(f"{NAME}/1-00-0").status_code == 400


@pytest.mark.parametrize(
    ("versions", "version", "status", "reason"),
    [
        pytest.param("", "1-0-0", 201, None, id="R06"),
        pytest.param("1-0-0", "2-0-0", 201, None, id="R06"),
        pytest.param("1-0-0 2-0-0", "1-0-1", 201, None, id="R06"),
        pytest.param("", "1-2-0", 409, "previous missing", id="R07"),
        pytest.param("1-0-0", "1-0-2", 409, "previous missing", id="R07"),
        pytest.param("1-0-0 1-0-1", "4-0-0", 409, "previous missing", id="R07"),
        pytest.param("1-0-0 1-1-0 1-1-1 1-1-2", "1-1-3", 201, None, id="R08"),
        pytest.param("1-0-0 1-1-0 1-1-1 1-1-2", "1-1-5", 409, "previous missing", id="R08"),
        pytest.param("1-0-0", "1-0-0", 409, "already exists", id="R10"),
    ],
)
def test_succession(api: Api, versions: str, version: str, status: int, reason: str | None) -> None:
    api.publish_all(versions)
    answer = api.publish(version)
    assert (answer.status_code, answer.json().get("reason")) == (status, reason)


def test_r09_a_late_addition_is_told_of_or_refused(make_api: Callable[..., Api]) -> None:
    api = make_api()
    api.publish_all("1-0-0 1-1-0")
    sequential = make_api(ServerSettings(succession=SuccessionRules("sequential")))
    assert sequential.publish("1-0-1").json()["reason"] == "next revision exists"
    assert api.publish("1-0-1").json()["notes"] == [
        (
            "version 1-0-1 adds to a revision that others follow: its columns come last in the table, and "
            "clients that walk versions by number expect them earlier"
        )
    ]


def test_r10_a_patch_keeps_the_order_and_the_time_of_creation(make_api: Callable[..., Api]) -> None:
    api = make_api(ServerSettings(succession=SuccessionRules(patches_allowed=True)))
    api.publish_all("1-0-0 1-0-1")
    before = api.get(f"{NAME}/1-0-0?repr=meta").json()["metadata"]
    answer = api.publish("1-0-0", **object_schema({**BERTH, "cargo": text(20)}))
    assert (answer.status_code, answer.json()["message"], answer.json()["updated"]) == (
        200,
        "Schema updated",
        True,
    )
    after = api.get(f"{NAME}/1-0-0?repr=meta").json()
    assert [*after["properties"]] == ["berth", "cargo"]
    assert after["metadata"]["createdAt"] == before["createdAt"] < after["metadata"]["updatedAt"]
    assert api.get(f"{NAME}/1").json() == uris("1-0-0 1-0-1")


def test_seed_s42_a_patch_that_breaks_the_table_is_refused(make_api: Callable[..., Api]) -> None:
    rules = SuccessionRules(patches_allowed=True)
    api = make_api(ServerSettings(succession=rules))
    api.publish_all("1-0-0 1-0-1")
    answer = api.publish("1-0-0", **properties(berth={"type": "boolean"}))
    assert message(answer) == (
        409,
        (
            "the patch of iglu:org.harbor/vessel_call/jsonschema/1-0-0 would break its table in redshift "
            "(1-0-1: Incompatible types in column berth old BOOLEAN new VARCHAR(12)); publish a "
            "new version instead"
        ),
    )
    lax = make_api(ServerSettings(KindPolicy("off"), rules))
    assert lax.publish("1-0-0", **properties(berth={"type": "boolean"})).status_code == 200


def test_r11_visibility_is_that_of_the_versions_before(api: Api) -> None:
    api.publish_all("1-0-0", public=True)
    answer = api.publish("1-0-1")
    assert (answer.status_code, answer.json()["reason"]) == (409, "availability conflict")


def test_r12_r13_superseding(api: Api) -> None:
    api.publish_all("1-0-0")
    body = object_schema(BERTH)
    assert api.publish("1-0-1", **{"$supersedes": ["1-0-2"], **body}).json()["reason"] == "superseded missing"
    assert api.publish("1-1-0", **{"$supersedes": ["1-0-0"], **body}).status_code == 201
    assert api.publish("1-2-0", **{"$supersedes": ["1-1-0"], **body}).status_code == 201
    superseded_by = [
        api.get(f"{NAME}/{version}").json().get("$supersededBy") for version in ("1-0-0", "1-1-0", "1-2-0")
    ]
    assert superseded_by == ["1-2-0", "1-2-0", None]
    assert api.get(f"{NAME}/1-2-0").json()["$supersedes"] == ["1-1-0"]


def test_r18_r44_a_kind_that_is_not_true_is_refused_for_each_warehouse(api: Api) -> None:
    """32767 goes into a SMALLINT, 40000 does not: Delta widens the column, Redshift cannot."""
    api.publish_all("1-0-0", **properties(berth={"type": "integer", "maximum": 32767}))
    answer = api.publish("1-0-1", **properties(berth={"type": "integer", "maximum": 40000}))
    assert (answer.status_code, answer.json()) == (
        409,
        {
            "message": "version 1-0-1 is declared as ADDITION, and its changes need MODEL",
            "reason": "kind",
            "needs": "MODEL",
            "profiles": {"redshift": "MODEL", "spark": "ADDITION"},
            "changes": [
                {
                    "pointer": "/properties/berth",
                    "rule": "table cannot follow",
                    "needs": "MODEL",
                    "profile": "redshift",
                    "detail": "Incompatible types in column berth old SMALLINT new INT",
                }
            ],
        },
    )


def test_r19_model_only_takes_revisions_for_additions(make_api: Callable[..., Api]) -> None:
    make_api().publish_all("1-0-0", **properties(berth=text(20)))
    lax = make_api(ServerSettings(KindPolicy("model-only")))
    answer = lax.publish("1-0-1", **properties(berth=text(12)))
    assert (answer.status_code, answer.json()["notes"]) == (
        201,
        ["WARNING: /properties/berth: bound tightened needs REVISION maxLength from 20 to 12"],
    )


def test_r22_a_step_that_was_too_large_is_told(api: Api) -> None:
    api.publish_all("1-0-0")
    answer = api.publish("1-1-0", **object_schema(BERTH, description="A call at a berth."))
    assert (answer.status_code, answer.json()["notes"]) == (
        201,
        ["INFO: the version is a REVISION, and the changes need no more than an ADDITION"],
    )


def test_r37_b11_two_keys_of_one_column(api: Api) -> None:
    answer = api.publish("1-0-0", **properties(portId=text(5), port_id=text(5)))
    assert answer.status_code == 400
    errors = [issue["message"] for issue in answer.json()["report"]]
    assert errors == ["columnNames: /portId and /port_id are one column, 'port_id'; rename one of them"]


def test_two_families_of_one_table(api: Api) -> None:
    api.publish_all("1-0-0")
    assert message(api.publish("1-0-0", name="VesselCall")) == (
        409,
        (
            "the table of iglu:org.harbor/VesselCall/jsonschema/1-0-0 is that of "
            "iglu:org.harbor/vessel_call/jsonschema/1-0-0, too; rename the schema"
        ),
    )


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b"{", 422, "The body cannot be read: Expecting property name enclosed in double quotes"),
        (b"\xff", 422, "The body cannot be read: "),
        (b"[" * 90_000, 422, "The body cannot be read: the JSON is nested too deep"),
        pytest.param(
            json.dumps(
                document("1-0-0", type="object", x=json.loads('{"a":' * 41 + "1" + "}" * 41))
            ).encode(),
            422,
            "The schema cannot be read: the JSON is nested more than 40 levels deep",
            id="B08",
        ),
        (b"[]", 400, "The schema does not describe itself: a schema is a JSON object"),
        (b'{"type": "object"}', 400, "The schema does not describe itself: $schema is None"),
        pytest.param(
            json.dumps(document("01-0-0")).encode(),
            400,
            "The schema does not describe itself: self.version: '01-0-0' is not a version",
            id="B13-01-0-0",
        ),
        pytest.param(
            json.dumps(document("99999999999-0-0")).encode(),
            400,
            "The schema does not describe itself: self.version: '99999999999-0-0' is not a version",
            id="B13-99999999999-0-0",
        ),
        (
            json.dumps(document("1-0-0", type="object", properties={"a": {"type": "strng"}})).encode(),
            400,
            "The schema has errors",
        ),
    ],
)
def test_schemas_that_are_none(api: Api, body: bytes, status: int, sentence: str) -> None:
    answer = api.call("POST", "/api/schemas", body)
    assert answer.status_code == status
    assert answer.json()["message"].startswith(sentence)


@pytest.mark.parametrize(
    ("vendor", "action", "published", "status"),
    [
        ("org.harbor", "READ", "vessel_call", 403),
        ("org.harborx", "CREATE_VENDOR", "vessel_call", 403),
        ("org.harbor", "BUMP", "vessel_call", 201),
        ("org.harbor", "BUMP", "berth", 403),
        ("org.harbor", "CREATE", "berth", 201),
        ("org", "CREATE", "berth", 201),
        ("org", "CREATE", "quay", 403),
        ("org", "CREATE_VENDOR", "quay", 201),
    ],
)
def test_what_a_key_may_publish(api: Api, vendor: str, action: Any, published: str, status: int) -> None:
    """vessel_call exists, berth is a new name of its vendor, quay is of a new vendor."""
    api.publish_all("1-0-0")
    schema = {
        "vessel_call": document("1-0-1"),
        "berth": document("1-0-0", name="berth"),
        "quay": document("1-0-0", vendor="org.quay"),
    }[published]
    answer = api.call("POST", "/api/schemas", schema, key=api.key(vendor, action))
    assert answer.status_code == status


def test_keys_are_made_and_deleted(api: Api) -> None:
    answer = api.call("POST", "/api/auth/keygen", {"vendorPrefix": "org.harbor"})
    keys = answer.json()
    assert (answer.status_code, [*keys]) == (200, ["read", "write"])
    path = "/api/auth/keygen"
    assert api.call("POST", path, {"vendorPrefix": "org.harbor"}, key=keys["write"]).status_code == 403
    assert api.call("POST", "/api/schemas", document("1-0-0"), key=keys["write"]).status_code == 201
    assert api.get(f"{NAME}/1-0-0", key=keys["read"]).status_code == 200
    assert api.call("DELETE", f"{path}?key={keys['read']}", key=keys["write"]).status_code == 403
    assert message(api.call("DELETE", f"{path}?key={keys['read']}")) == (200, "Keys have been deleted")
    assert api.get(f"{NAME}/1-0-0", key=keys["read"]).status_code == 404
    assert api.call("DELETE", f"{path}?key={keys['read']}").status_code == 404


def test_keys_are_stored_as_hashes(api: Api) -> None:
    key = api.key("org.harbor")
    with api.store.reading() as reader:
        rows = reader.execute("SELECT * FROM registry_permissions")
    assert len(rows) == 2
    assert not any(key in str(row) or key.replace("-", "") in str(row) for row in rows)


def test_drafts(api: Api) -> None:
    path = "/api/drafts/org.harbor/vessel_call/jsonschema/1"
    assert api.get(path).status_code == 404
    assert api.call("PUT", path, {"type": "object"}, key=api.key("org.harbor")).status_code == 403
    assert api.call("PUT", path, {"type": "array"}).status_code == 201
    answer = api.call("PUT", path, {"type": "object"})
    assert (answer.status_code, answer.json()["updated"]) == (201, True)
    assert api.get(path).json()["type"] == "object"
    assert api.get(path, key=None).status_code == 404
    assert api.get("/api/drafts").json() == ["iglu:org.harbor/vessel_call/jsonschema/1"]
    assert api.get("/api/drafts", key=None).json() == []


def test_validation_of_a_schema(api: Api) -> None:
    path = "/api/validation/validate/schema/jsonschema"
    assert api.call("POST", path, document("1-0-0"), key=None).status_code == 403
    bad = document("1-0-0", **properties(berth={"type": "integer", "minimum": 9, "maximum": 3}))
    report = api.call("POST", path, bad).json()["report"]
    assert {
        "message": "numericMinimumMaximum: minimum 9 is greater than maximum 3; no value can fit",
        "level": "ERROR",
        "pointer": "/properties/berth",
    } in report


def test_the_server_describes_itself(api: Api) -> None:
    api.publish_all("1-0-0")
    assert (api.get("/api/meta/health", key=None).text, api.get("/api/meta/health/db").text) == ("OK", "OK")
    described = api.get("/api/meta/server", key=None).json()
    assert (described["database"], described["schemaCount"], described["patchesAllowed"]) == (
        api.store.kind,
        1,
        False,
    )
    assert "/api/schemas/{vendor}/{name}/{format}/{version}" in api.get("/api/openapi.json").json()["paths"]
    assert api.get("/api/debug").status_code == 501
    assert message(api.get("/api/nothing")) == (404, "The endpoint does not exist")
    api.service.is_terminating = lambda: True
    assert api.get("/api/meta/health").status_code == 503


def test_columns_of_wide_rows(api: Api) -> None:
    api.publish_all("1-0-0")
    path = f"{NAME}/1/ddl?layout=wide"
    [table] = api.get(f"{path}&target=spark").json()["tables"]
    assert [column["type"] for column in table["columns"]] == [
        "STRUCT<`berth`: STRING>",
        "ARRAY<STRUCT<`berth`: STRING>>",
    ]
    sentence = "layout wide: postgres has no statements for wide rows; expected target spark"
    assert message(api.get(f"{path}&target=postgres")) == (400, sentence)


def test_seed_s89_tables_and_json_paths_of_a_model(api: Api) -> None:
    api.publish_all("1-0-0")
    (table,) = api.get(f"{NAME}/1/ddl?target=postgres").json()["tables"]
    assert (table["table"], table["columns"][-1]["type"]) == ("org_harbor_vessel_call_1", "VARCHAR(12)")
    assert api.get(f"{NAME}/1/jsonpaths").json()["jsonpaths"][-1] == "$.data.berth"
    assert api.get(f"{NAME}/1/ddl?target=oracle").status_code == 400
    assert api.get(f"{NAME}/2/ddl").status_code == 404
    assert api.get(f"{NAME}/1/ddl", key=None).status_code == 404


@pytest.mark.parametrize(
    "path", ["/api/schemas/a%00b", "/api/schemas/org.harbor/a%20b", "/api/schemas/%F0%9F%9A%A2"]
)
def test_lists_of_what_no_schema_is_called(api: Api, path: str) -> None:
    assert message(api.get(path)) == (404, "No schemas available")


def test_names_that_no_schema_can_have(api: Api) -> None:
    expected = "a draft has a vendor, name and format as schemas have, and a number from 0"
    for path in ("a%00/b/c/1", "a/b/c/-1", f"a/b/c/{2**70}"):
        assert message(api.call("PUT", f"/api/drafts/{path}", {})) == (400, expected)
    for prefix in ("a\0b", "a b", 7):
        assert api.call("POST", "/api/auth/keygen", {"vendorPrefix": prefix}).status_code == 400
    assert api.call("POST", "/api/auth/keygen", {"vendorPrefix": "*"}).status_code == 200


def test_who_supersedes_a_schema_is_not_for_its_author_to_say(api: Api) -> None:
    assert api.publish("1-0-0", **{"$supersededBy": "9-0-0", **object_schema(BERTH)}).status_code == 201
    assert "$supersededBy" not in api.get(f"{NAME}/1-0-0").json()


def test_texts_that_stores_find_hard(api: Api) -> None:
    nodes = {
        "__proto__": text(5),
        "a.b": {"type": "string", "description": "NUL \0, half a pair \ud800, \u2028, ' and \""},
        "日本": {"enum": [10**30, -0.0]},
    }
    body = json.dumps(document("1-0-0", **properties(**nodes))).encode()
    answer = api.call("POST", "/api/schemas", body)
    assert answer.status_code == 201, answer.text
    assert api.get(f"{NAME}/1-0-0").json()["properties"] == nodes


def test_data_that_is_nested_too_deep(api: Api) -> None:
    api.publish_all("1-0-0")
    path = "/api/validation/validate/instance"
    for depth in (500, 900, 990, 5000, 20_000):
        body = f'{{"schema": "{uris("1-0-0")[0]}", "data": {"[" * depth}{"]" * depth}}}'
        assert api.call("POST", path, body.encode()).status_code in (200, 422)


@pytest.mark.parametrize(
    ("keywords", "data", "keyword"),
    [
        ({"pattern": "^(a|a)*\\1$"}, "a" * 40 + "!", "pattern"),
        ({"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#/definitions/a"}}}, "x", None),
    ],
)
def test_b08_b12_schemas_that_never_end(api: Api, keywords: Any, data: str, keyword: str | None) -> None:
    api.publish_all("1-0-0", **keywords)
    report = {"schema": uris("1-0-0")[0], "data": data}
    answer = api.call("POST", "/api/validation/validate/instance", report).json()
    assert [fault["keyword"] for fault in answer.get("report", ())] == ([keyword] if keyword else [])


def test_d16_an_overlay_fits_a_table_that_was_made_otherwise(api: Api) -> None:
    api.publish_all("1-0-0", **object_schema({**BERTH, "cargo": text(9)}, ["berth"]))
    path = f"{NAME}/1/overlay"
    overlay = {"/berth": {"column": "dock", "type": "VARCHAR(64)", "encode": "LZO", "position": 2}}
    assert message(api.get(path)) == (404, "There is no overlay")
    assert api.call("PUT", path, overlay, key=api.key("org.harbor")).status_code == 403
    assert message(api.call("PUT", path, overlay)) == (201, "Overlay stored")
    assert api.get(path).json() == overlay
    columns = api.get(f"{NAME}/1/ddl").json()["tables"][0]["columns"][9:]
    assert [tuple(column.values()) for column in columns] == [
        ("cargo", "VARCHAR(9)", "ZSTD", True, "/cargo"),
        ("dock", "VARCHAR(64)", "LZO", False, "/berth"),
    ]
    assert api.get(f"{NAME}/1/jsonpaths").json()["jsonpaths"][9:] == ["$.data.cargo", "$.data.berth"]
    api.call("PUT", path, {"jsonpaths": ["$.schema.vendor", "$.data.berth", "$.data.cargo"]})
    assert api.get(path).json() == {"/berth": {"position": 1}, "/cargo": {"position": 2}}


@pytest.mark.parametrize(
    ("overlay", "fault"),
    [
        ({"/brth": {}}, "org_harbor_vessel_call_1 has no column of /brth: did you mean '/berth'?"),
        (
            {"/berth": {"column": "cargo"}},
            "org_harbor_vessel_call_1 would have the column 'cargo' twice",
        ),
        (
            {"/berth": {"type": "TEXT(3)"}},
            "unknown type 'TEXT(3)': TEXT takes no length; write VARCHAR(3)",
        ),
        ({"/berth": {"type": "INT(4)"}}, "unknown type 'INT(4)': INT takes no length"),
        ({"/berth": {"type": "CHAR(4,2)"}}, "unknown type 'CHAR(4,2)': CHAR takes one length"),
        ({"/berth": {"type": "VARCHR(3)"}}, "unknown type 'VARCHR(3)': did you mean 'VARCHAR'?"),
        ({"/berth": {"encode": "a b"}}, "/berth: 'a b' is no encoding; expected one such as ZSTD"),
        ({"/berth": {"position": 0}}, "/berth: positions count from 1"),
        (
            {"/berth": {"name": "dock"}},
            "/berth: expected the texts column, type, encode and",
        ),
        ([], "an overlay is an object of pointers such as /berth"),
        (
            {"shortened": {"postgres": {"long": "s" * 64}}},
            f"shortened/postgres/long: '{'s' * 64}' is no name in postgres; expected a text of at most 63",
        ),
    ],
)
def test_overlays_that_do_not_fit(api: Api, overlay: Any, fault: str) -> None:
    api.publish_all("1-0-0", **properties(berth=text(12), cargo=text(9)))
    status, sentence = message(api.call("PUT", f"{NAME}/1/overlay", overlay))
    assert status == 400
    assert sentence.startswith(f"The overlay does not fit: {fault}")
