"""`hydra/sweeper: hypertune` in the configuration of a Hydra application."""
import logging
import multiprocessing
import os
import socket
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Tuple

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, Transformer
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from omegaconf import OmegaConf

import hypertune

log = logging.getLogger(__name__)


@dataclass
class HypertuneSweeperConf:
    _target_: str = "hydra_plugins.hypertune_sweeper.sweeper.HypertuneSweeper"
    study_name: Optional[str] = None  # by default the job's
    n_trials: int = 20
    n_jobs: int = 1  # jobs at a time, each in a process of its own
    metric: Any = "objective"  # one name, or a list of them
    direction: Any = "minimize"  # or maximize; a list for several metrics
    algorithm: Optional[str] = None
    seed: Optional[int] = None
    worker: Optional[str] = None  # a name for each machine; its host name
    params: Dict[str, Any] = field(default_factory=dict)


ConfigStore.instance().store(group="hydra/sweeper", name="hypertune",
                             node=HypertuneSweeperConf, provider="hypertune")


def parameter(override: Override) -> Tuple[Any, Dict[Any, Any]]:
    """The parameter of a sweep, and what its values are in an override. All
    but intervals are lists of values; numbers keep their order."""
    name, sweep = override.key_or_group, override.value()
    if override.is_interval_sweep():
        whole = isinstance(sweep.start, int) and isinstance(sweep.end, int)
        kind = hypertune.Integer if whole else hypertune.Double
        return kind(name, sweep.start, sweep.end, log="log" in sweep.tags), {}
    values = list(override.sweep_iterator(transformer=Transformer.encode))
    if all(type(value) in (int, float) for value in values):
        return (hypertune.Discrete(name, sorted(set(values)),
                                   log="log" in sweep.tags),
                {float(value): value for value in values})
    words = {str(value): value for value in values}
    return hypertune.Categorical(name, list(words)), words


class HypertuneSweeper(Sweeper):
    """Asks for a point whenever a job has ended: no job waits for others."""

    def __init__(self, **settings: Any):
        self.settings = settings

    def setup(self, *, hydra_context: Any, task_function: Any,
              config: Any) -> None:
        self.config, self.hydra_context = config, hydra_context
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function,
            config=config)

    def sweep(self, arguments: List[str]) -> None:
        read = {one.get_key_element(): one
                for one in OverridesParser.create().parse_overrides(
                    ["%s=%s" % item for item in
                     self.settings["params"].items()] + list(arguments))}
        self.fixed = [one.input_line for one in read.values()
                      if not one.is_sweep_override()]
        self.space = {parameter(one)[0].name: (key, *parameter(one))
                      for key, one in read.items() if one.is_sweep_override()}
        made = self.settings
        study = hypertune.Client().create_study(
            made["study_name"] or self.config.hydra.job.name,
            _plain(made["metric"]), _plain(made["direction"]),
            [one for _, one, _ in self.space.values()], made["algorithm"],
            made["seed"], {"trials": made["n_trials"]}, load_if_exists=True)
        log.info("study %s", study)
        folder = self.config.hydra.sweep.dir
        os.makedirs(folder, exist_ok=True)
        OmegaConf.save(self.config, os.path.join(folder, "multirun.yaml"))
        if made["n_jobs"] == 1:
            self._work(study.name, 0)
        else:
            self._fork(study.name, made["n_jobs"])
        log.info("study %s", study)
        OmegaConf.save(_results(study), os.path.join(
            folder, "optimization_results.yaml"))

    def _fork(self, name: str, n_jobs: int) -> None:
        """Hydra's state and the working directory are a process's own, so
        that a thread for each job would not do."""
        if type(self.launcher).__name__ == "JoblibLauncher":
            raise ValueError("hydra.sweeper.n_jobs=%d runs jobs side by side "
                             "with hydra/launcher=basic; joblib's own "
                             "processes cannot be below them" % n_jobs)
        context = multiprocessing.get_context("fork")
        workers = [context.Process(target=self._work, args=(name, slot))
                   for slot in range(n_jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if any(worker.exitcode for worker in workers):
            raise RuntimeError("a process of the sweep has failed, see above")

    def _work(self, name: str, slot: int) -> None:
        """One job after the other until the study has its trials. The name of
        the slot gives it the trial again that an interrupted sweep left."""
        study = hypertune.Client().study(name)
        worker = "hydra-%s-%d" % (
            self.settings["worker"] or socket.gethostname()[:64], slot)
        for trial in study.ask(self.settings["n_trials"], worker):
            batch = [self._overrides(trial.params)]
            self.validate_batch_is_legal(batch)
            done = self.launcher.launch(batch, initial_job_idx=trial.id - 1)
            try:
                trial.complete(self._results_of(done[0].return_value))
            except hypertune.ApiError:
                raise
            except Exception as error:
                log.warning("trial %d: %s", trial.id, error)
                trial.infeasible("%s: %s" % (type(error).__name__, error))

    def _overrides(self, params: Mapping[str, Any]) -> List[str]:
        return self.fixed + ["%s=%s" % (key, words.get(
            params[name], params[name]))
            for name, (key, _, words) in self.space.items()]

    def _results_of(self, returned: Any) -> Dict[str, float]:
        """What the function returned, by metric. TypeError or ValueError."""
        names = _plain(self.settings["metric"])
        if isinstance(names, str):
            return {names: float(returned)}
        if len(returned) != len(names):
            raise ValueError("%d values for %d metrics" %
                             (len(returned), len(names)))
        return {name: float(value) for name, value in zip(names, returned)}


def _plain(value: Any) -> Any:
    return list(value) if OmegaConf.is_list(value) else value


def _results(study: Any) -> Dict[str, Any]:
    """As Hydra's other sweepers write them."""
    if len(study.goals()) > 1:
        return {"name": "hypertune", "solutions": [
            {"params": trial.params, "values": list(trial.metrics.values())}
            for trial in study.best_trials()]}
    best = study.best_trial
    return {"name": "hypertune", "best_params": best.params,
            "best_value": best.value}
