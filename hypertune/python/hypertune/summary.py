"""What a study was at one moment, and the card that a notebook shows."""
import html
from typing import TYPE_CHECKING, Any, Dict, Mapping, Sequence, Tuple

from hypertune import show
from hypertune.trial import Trial

if TYPE_CHECKING:
    from hypertune.study import Study

OPEN = ("RUNNING", "PAUSED", "STOPPING", "CANCELLING")
_ENDED = ("succeeded", "stopped", "failed", "cancelled")
_SHOWN = (("active", "running"), ("stopping", "stopping"),
          ("requested", "waiting"), ("paused", "paused"),
          ("failed", "failed"), ("stopped", "stopped early"),
          ("cancelled", "cancelled"))


def _failures(failures: Mapping[str, Any]) -> str:
    words: str = failures.get("words", "")
    reason = failures.get("reason")
    return "%s: most often '%s'" % (words, reason) if reason else words


class Summary:
    """What the server says about a study at one moment."""

    def __init__(self, study: "Study", resource: Mapping[str, Any]):
        self._study = study
        self._status = resource["hypertuneStatus"]
        stopping = resource["studySpec"].get("studyStoppingConfig", {})
        wanted = (resource.get("maxTrialCount") or
                  stopping.get("maxNumTrials"))
        self.max_trials = int(wanted) if wanted else None
        self.state: str = self._status["state"]
        self.reason: str = self._status.get("reason", "")
        self.counts: Dict[str, int] = dict(self._status["counts"])
        self.ended = sum(self.counts.get(name, 0) for name in _ENDED)
        #: Of a study that ended although trials failed: "4 of 6 failed", and
        #: the commonest reason when most of them did; "" of any other.
        self.failures: str = _failures(self._status.get("failures", {}))
        self._mostly_failed = bool(
            self._status.get("failures", {}).get("mostly"))
        best = self._status.get("best")
        self.best = None if best is None else Trial(study, best)

    @property
    def is_open(self) -> bool:
        """Can further trials end?"""
        return self.state in OPEN

    def __str__(self) -> str:
        of = "/%d" % self.max_trials if self.max_trials else ""
        text = "%s %s %d%s trials" % (self._study.name, self.state,
                                      self.ended, of)
        if self.best is not None:
            text += ", best %s=%s (trial %d)" % (
                self._study.metric, show.number(self.best.value),
                self.best.id)
        if self.failures:
            text += ", " + self.failures
        return show.plain(text)

    def _repr_html_(self) -> str:
        return self.card()

    def card(self, more: Sequence[Tuple[str, str]] = ()) -> str:
        """HTML with further rows, pairs of text and HTML."""
        rows = []
        if self.best is not None:
            rows.append(("best " + self._study.metric,
                         "<b>%s</b> (trial %d)" % (
                             html.escape(show.number(self.best.value)),
                             self.best.id)))
        shown = [str(self.ended)]
        if self.max_trials:
            shown[0] += " / %d" % self.max_trials
        others = ", ".join("%d %s" % (self.counts[key], word)
                           for key, word in _SHOWN if self.counts.get(key))
        rows.append(("trials", " - ".join(shown + ([others] if others
                                                   else []))))
        if self.failures:
            failures = html.escape(show.plain(self.failures))
            rows.append(("failures", '<b style="color:#b03a2e">%s</b>' %
                         failures if self._mostly_failed else failures))
        if self.best is not None:
            rows.append(("best parameters", "<code>%s</code>" % html.escape(
                show.params(self.best.params))))
        return show.table("%s - %s" % (self._study.name, self.state),
                          rows + list(more))

    __repr__ = __str__
