"""The job's counters, as an engine tells them of itself."""

import base64
import json
from typing import Any

from apache_beam.coders import VarIntCoder

_URN = "beam:metric:user:sum_int64:v1"


def of_flink(accumulators: list[dict[str, str]]) -> dict[str, int]:
    """Name -> value, from the accumulators in the JobManager's REST API.

    Beam puts all metrics into one accumulator, as JSON whose values are base64-encoded. Each step
    that counts has an entry of its own.
    """
    counters: dict[str, int] = {}
    for accumulator in accumulators:
        if accumulator["name"] == "__metricscontainers":
            for metric in json.loads(accumulator["value"])["metrics"]["attempted"]:
                _add(counters, metric["urn"], metric.get("labels", {}), metric["payload"])
    return counters


def _add(counters: dict[str, int], urn: str, labels: Any, payload: str) -> None:
    if urn == _URN and labels["NAMESPACE"] == "pairs":
        value = VarIntCoder().decode(base64.b64decode(payload))
        counters[labels["NAME"]] = counters.get(labels["NAME"], 0) + value
