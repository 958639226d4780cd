"""All trials of a study as a file, as `hypertune export` writes it."""
import csv
import datetime
import json
import re
from typing import (TYPE_CHECKING, Any, Dict, Iterable, Iterator, List,
                    Mapping, Sequence)

if TYPE_CHECKING:
    from hypertune.trial import Trial

_TIMES = (("created", "createTimeMs"), ("started", "startTimeMs"),
          ("ended", "endTimeMs"))
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|"
                     r"[+-]?(inf(inity)?|nan)", re.IGNORECASE)


def _stamp(moment_ms: int) -> str:
    moment = (datetime.datetime(1970, 1, 1) +
              datetime.timedelta(milliseconds=moment_ms))
    return moment.isoformat(timespec="milliseconds") + "Z"


def metrics_of(resource: Mapping[str, Any]) -> Dict[str, Any]:
    """What counts of a trial, goals and others, as the server says it."""
    final = resource.get("finalMeasurement", {})
    return {metric["metricId"]: metric["value"]
            for metric in final.get("metrics", ())}


def _row(trial: "Trial") -> Dict[str, Any]:
    resource = trial._resource
    own = resource["hypertune"]
    return {"id": trial.id, "state": trial.state,
            "value": own.get("objective"), "params": own.get("params", {}),
            "metrics": metrics_of(resource),
            "confirms": int(own["confirms"]) if "confirms" in own else None,
            "client": resource.get("clientId"), "step": trial.step,
            "attempt": own.get("attempt"), "runner": own.get("runner"),
            "replicate": own.get("replicate"), "reason": trial.reason,
            **{name: _stamp(own[key]) for name, key in _TIMES
               if own.get(key)}}


def columns(goals: Sequence[str],
            rows: Iterable[Mapping[str, Any]]) -> List[str]:
    """The names of all metrics: goals first, what else was reported by
    name."""
    found = {name for row in rows for name in row["metrics"]}
    return list(goals) + sorted(found - set(goals))


def _cell(value: Any) -> Any:
    """What a spreadsheet would take for a formula is made a text."""
    if (isinstance(value, str) and value[:1] in tuple("=+-@\t") and
            not _NUMBER.fullmatch(value)):
        return "'" + value
    return value


def _write_table(file: Any, parameters: Sequence[str], goals: Sequence[str],
                 rows: Sequence[Mapping[str, Any]]) -> None:
    metrics = columns(goals, rows)
    plain = ["step", "attempt", "runner", "created", "started", "ended",
             "reason"]
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([_cell(one) for one in (
        ["id", "state", "value"] + ["params." + name for name in parameters] +
        ["metrics." + name for name in metrics] + plain)])
    for row in rows:
        writer.writerow([_cell(one) for one in (
            [row["id"], row["state"], row["value"]] +
            [row["params"].get(name) for name in parameters] +
            [row["metrics"].get(name) for name in metrics] +
            [row.get(name) for name in plain])])


def _write_lines(file: Any, rows: Iterable[Dict[str, Any]],
                 measured: Iterator[Mapping[str, Any]]) -> None:
    one = next(measured, None)
    for row in rows:
        row = {key: value for key, value in row.items() if value is not None}
        row["measurements"] = []
        while one is not None and one["trial"] <= row["id"]:
            if one["trial"] == row["id"]:
                row["measurements"].append(
                    {"step": int(one["step"]), **{
                        key: one[key] for key in
                        ("timeMs", "attempt", "replica", "metrics",
                         "checkpoint") if key in one}})
            one = next(measured, None)
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def write(path: str, parameters: Sequence[str], goals: Sequence[str],
          trials: Iterable["Trial"],
          measured: Iterator[Mapping[str, Any]]) -> None:
    """Lines of JSON, with all measurements, to a path that ends in .jsonl,
    else CSV."""
    rows = [_row(trial) for trial in trials]
    with open(path, "w", encoding="utf-8", newline="") as file:
        if path.endswith(".jsonl"):
            _write_lines(file, rows, measured)
        else:
            _write_table(file, parameters, goals, rows)
