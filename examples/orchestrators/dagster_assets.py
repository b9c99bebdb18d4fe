"""An asset of Dagster that loads new files: `dagster dev -f dagster_assets.py`."""

# Without `from __future__ import annotations`, since Dagster looks at the type of `context`.
from dagster import AssetExecutionContext, Backoff, Failure, MaterializeResult, RetryPolicy, asset
from nightly import DESTINATION, FOLDER, GiveUp, load_orders


@asset(retry_policy=RetryPolicy(max_retries=3, delay=300, backoff=Backoff.EXPONENTIAL))
def orders(context: AssetExecutionContext) -> MaterializeResult:
    try:
        result = load_orders(FOLDER, DESTINATION, context.run.run_id)
    except GiveUp as error:
        raise Failure(str(error), allow_retries=False) from error
    return MaterializeResult(metadata=result)
