"""A study's trials and measurements as tables of pandas, in its own types."""
import json
from typing import (TYPE_CHECKING, Any, Dict, Iterable, List, Mapping,
                    Sequence)

from hypertune import show

if TYPE_CHECKING:
    import pandas

    from hypertune.trial import Trial

_ATTRIBUTE = "user:"  # begins the keys of metadata that a user has set


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("a data frame needs the package pandas; trials() "
                          "and curves() do without") from None
    return pandas


def is_whole(spec: Mapping[str, Any]) -> bool:
    """Has this ParameterSpec whole numbers only?"""
    return "integerValueSpec" in spec or all(
        float(value).is_integer() for value in
        spec.get("discreteValueSpec", {}).get("values", [0.5]))


def _parameter(specs: Sequence[Mapping[str, Any]],
               values: List[Any]) -> "pandas.Series":
    """A column. Branches that exclude each other may share a name: `specs`
    has all of this name."""
    pandas = _pandas()
    given = [value for value in values if value is not None]
    labels = [label for spec in specs for label in
              spec.get("categoricalValueSpec", {}).get("values", ())]
    if labels or any(isinstance(value, str) for value in given):
        if not all(isinstance(value, str) for value in given):
            return pandas.Series(values, dtype=object)
        # An edit of the study may have removed what trials have.
        return pandas.Series(pandas.Categorical(
            values, list(dict.fromkeys(labels + given))))
    whole = specs and all(is_whole(spec) for spec in specs)
    return pandas.Series(values, dtype="Int64" if whole else "float64")


def _times(values: List[Any]) -> "pandas.Series":
    pandas = _pandas()
    return pandas.Series(pandas.to_datetime(values, utc=True)).astype(
        "datetime64[ns, UTC]")


def _metrics(names: Iterable[str], rows: Sequence[Mapping[str, Any]]
             ) -> Dict[str, "pandas.Series"]:
    """A column for each metric of the rows, NaN where a row lacks it."""
    return {"metrics." + name: _pandas().Series(
        [float(row.get(name, "nan")) for row in rows], dtype="float64")
        for name in names}


def attributes(rows: Iterable[Mapping[str, Any]]) -> Dict[int, Dict[str, Any]]:
    """What users have set, by trial and name, from all rows of metadata in
    the order of their writing."""
    found: Dict[int, Dict[str, Any]] = {}
    for row in rows:
        if row["ns"] == "optuna" and row["key"].startswith(_ATTRIBUTE):
            found.setdefault(int(row["trial"]), {})[
                row["key"][len(_ATTRIBUTE):]] = json.loads(row["value"])
    return found


def of_trials(parameters: Mapping[str, Sequence[Mapping[str, Any]]],
              metrics: Sequence[str], trials: Sequence["Trial"],
              set_by_users: Mapping[int, Mapping[str, Any]]
              ) -> "pandas.DataFrame":
    """A row for each trial. `parameters` has the specs of each name,
    `metrics` the order of the columns."""
    pandas = _pandas()
    read = [trial.params for trial in trials]
    columns: Dict[str, Any] = {
        "id": pandas.Series([trial.id for trial in trials], dtype="int64"),
        "state": pandas.Series([trial.state for trial in trials],
                               dtype="category"),
        "value": pandas.Series([trial.value for trial in trials],
                               dtype="float64")}
    for name, specs in parameters.items():
        columns["params." + name] = _parameter(
            specs, [params.get(name) for params in read])
    columns.update(_metrics(metrics, [trial.metrics for trial in trials]))
    columns["start"] = _times([trial.start for trial in trials])
    columns["end"] = _times([trial.end for trial in trials])
    columns["duration"] = columns["end"] - columns["start"]
    for name in dict.fromkeys(name for trial in trials for name in
                              set_by_users.get(trial.id, ())):
        columns["user_attrs." + name] = pandas.Series(
            [set_by_users.get(trial.id, {}).get(name) for trial in trials],
            dtype=object).infer_objects()
    return pandas.DataFrame(columns)


def of_measurements(metrics: Sequence[str],
                    rows: Sequence[Mapping[str, Any]]) -> "pandas.DataFrame":
    """A row for each record of a trial, as the server lists them."""
    pandas = _pandas()
    columns: Dict[str, Any] = {
        name: pandas.Series([int(row[name]) for row in rows], dtype="int64")
        for name in ("trial", "attempt")}
    columns["replica"] = pandas.Series([row["replica"] for row in rows],
                                       dtype="category")
    columns["step"] = pandas.Series([int(row["step"]) for row in rows],
                                    dtype="int64")
    columns["time"] = _times([show.moment(row["timeMs"]) for row in rows])
    columns.update(_metrics(metrics, [row["metrics"] for row in rows]))
    return pandas.DataFrame(columns)
