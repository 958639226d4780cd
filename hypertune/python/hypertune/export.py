"""All trials of a study as a file, for other programs."""
import csv
import json
from typing import TYPE_CHECKING, Any, Dict, Iterable, Sequence

if TYPE_CHECKING:
    from hypertune.trial import Trial


def _row(trial: "Trial") -> Dict[str, Any]:
    return {"id": trial.id, "state": trial.state, "value": trial.value,
            "start": trial.start.isoformat() if trial.start else None,
            "end": trial.end.isoformat() if trial.end else None}


def write(path: str, parameters: Sequence[str],
          trials: Iterable["Trial"]) -> None:
    """Lines of JSON to a path that ends in .jsonl, else CSV; absent values
    are null there and empty here."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        if path.endswith(".jsonl"):
            for trial in trials:
                file.write(json.dumps({**_row(trial), "params": trial.params,
                                       "metrics": trial.metrics}) + "\n")
            return
        names = ["params." + name for name in parameters]
        writer = csv.DictWriter(file, ["id", "state", "value"] + names +
                                ["start", "end"], lineterminator="\n")
        writer.writeheader()
        for trial in trials:
            writer.writerow({**_row(trial), **{
                "params." + name: value
                for name, value in trial.params.items()}})
