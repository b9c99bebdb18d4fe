"""The order in which a changed schema reaches its tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.document.writer import document_of
from trellis.dialects.pinot.schema_changes.migration_plan import Plan, plan

N = FieldSpec("n", PinotType.INT)
OLD = PinotSchema("rides", (N,))
ADDED = replace(OLD, dimensions=(N, FieldSpec("x", PinotType.INT)))
OFFLINE = {"tableName": "rides_OFFLINE", "tableType": "OFFLINE"}
REALTIME = {"tableName": "rides_REALTIME", "tableType": "REALTIME", "segmentsConfig": {"timeColumnName": "t"}}


def calls(change_plan: Plan) -> list[str]:
    return [f"{step.method} {step.path}" if step.method else step.description for step in change_plan.steps]


def test_an_equal_schema_has_no_steps() -> None:
    assert plan(OLD, OLD) == Plan((), (), ())


def test_a_compatible_schema_is_checked_put_and_reloaded_in_both_halves() -> None:
    change_plan = plan(OLD, ADDED, [OFFLINE, REALTIME])
    assert change_plan.in_place
    assert calls(change_plan) == [
        "POST /schemas/validate",
        "PUT /schemas/rides?reload=false",
        "PUT /tables/rides_OFFLINE",
        "PUT /tables/rides_REALTIME",
        "POST /segments/rides/reload?type=OFFLINE",
        "POST /segments/rides/reload?type=REALTIME",
        "GET /segments/segmentReloadStatus/{jobId}",
    ]
    assert change_plan.steps[1].body == document_of(ADDED)


def test_what_is_only_documentation_needs_no_reload() -> None:
    change_plan = plan(OLD, replace(OLD, dimensions=(replace(N, max_length=9),)))
    assert calls(change_plan) == ["POST /schemas/validate", "PUT /schemas/rides?reload=false"]


def test_what_a_reload_does_not_change_is_loaded_again() -> None:
    change_plan = plan(OLD, replace(OLD, dimensions=(replace(N, transform="f(x)"),)))
    assert change_plan.steps[-1].description == (
        "load the old data again, which a reload does not change: n: transformFunction from unset to f(x)"
    )


@pytest.mark.parametrize(
    "new",
    [
        pytest.param(replace(OLD, dimensions=(replace(N, data_type=PinotType.LONG),)), id="widened"),
        pytest.param(replace(OLD, dimensions=(FieldSpec("m", PinotType.INT),)), id="renamed"),
        pytest.param(replace(OLD, dimensions=()), id="dropped"),
    ],
)
def test_what_is_incompatible_gets_a_new_table_beside_the_old_one(new: PinotSchema) -> None:
    change_plan = plan(OLD, new, [OFFLINE])
    assert not change_plan.in_place
    assert calls(change_plan) == [
        "POST /schemas",
        "POST /tables",
        "load all data from the source into rides_v2",
        "GET /tables/rides_v2/size",
        "let the queries and the jobs use rides_v2 instead of rides",
        "DELETE /tables/rides?type=offline",
        "DELETE /schemas/rides",
    ]
    assert change_plan.steps[0].body["schemaName"] == "rides_v2"
    assert change_plan.steps[1].body == {"tableName": "rides_v2_OFFLINE", "tableType": "OFFLINE"}


def test_a_step_is_a_shell_command() -> None:
    step = plan(OLD, ADDED).steps[2]
    assert step.curl() == "curl -sSf -X POST 'http://localhost:9000/segments/rides/reload?type=OFFLINE'"
    assert plan(OLD, ADDED).steps[0].curl("http://ctl:9000") == (
        "curl -sSf -X POST http://ctl:9000/schemas/validate -H 'Content-Type: application/json' -d "
        '\'{"schemaName":"rides","enableColumnBasedNullHandling":false,"dimensionFieldSpecs":[{"name":"n",'
        '"dataType":"INT","fieldType":"DIMENSION"},{"name":"x","dataType":"INT","fieldType":"DIMENSION"}]}\''
    )
