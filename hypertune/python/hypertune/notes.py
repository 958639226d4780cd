"""What people write about a study or a trial: a note and tags."""
from typing import Any, Dict, Iterable, List, Tuple

from hypertune.transport import Transport


class Noted:
    """A study or a trial. Each property asks the server."""

    def _notes_of(self) -> Tuple[Transport, str]:
        raise NotImplementedError

    def _notes(self, **changes: Any) -> Dict[str, Any]:
        transport, path = self._notes_of()
        answer: Dict[str, Any] = transport.call(
            "PATCH", path, changes) if changes else transport.call("GET", path)
        return answer

    @property
    def note(self) -> str:
        """A text in Markdown, at most 64 KiB; "" when there is none. Assign to
        it to replace it::

            trial.note = "diverges with seed **7**"
        """
        return str(self._notes()["note"])

    @note.setter
    def note(self, text: str) -> None:
        self._notes(note=text)

    @property
    def tags(self) -> List[str]:
        """Its tags, in order: words of letters, digits and _ . -; "favourite"
        is the star of the dashboard. Assign to it to replace all; add_tags()
        and remove_tags() leave those of others as they are."""
        return list(self._notes()["tags"])

    @tags.setter
    def tags(self, words: Iterable[str]) -> None:
        self._notes(tags=_texts(words))

    def add_tags(self, *words: str) -> List[str]:
        """Adds tags; returns all that it has now."""
        return list(self._notes(addTags=_texts(words))["tags"])

    def remove_tags(self, *words: str) -> List[str]:
        """Removes tags, those that it has; returns the others."""
        return list(self._notes(removeTags=_texts(words))["tags"])


def _texts(words: Iterable[str]) -> List[str]:
    if isinstance(words, str):
        raise TypeError("tags are a list of words, not one text")
    return [str(word) for word in words]
