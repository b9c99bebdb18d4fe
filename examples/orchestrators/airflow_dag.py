"""A DAG of Airflow that loads new files every night. Put it into the folder of DAGs, beside `nightly.py`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from airflow.exceptions import AirflowFailException
from airflow.sdk import dag, get_current_context, task
from nightly import DESTINATION, FOLDER, GiveUp, load_orders


@dag(schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False, max_active_runs=1)
def shop() -> None:
    @task(retries=3, retry_delay=timedelta(minutes=5))
    def orders() -> dict[str, Any]:
        run_id = get_current_context()["run_id"]
        try:
            return load_orders(FOLDER, DESTINATION, run_id)
        except GiveUp as error:
            raise AirflowFailException(str(error)) from error

    orders()


shop()
