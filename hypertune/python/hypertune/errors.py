"""What the server or the way to it refused, as exceptions."""
from typing import Any, Dict, Mapping, Optional, Type


class ApiError(Exception):
    """A request was not answered with success; the text is the server's.

    `code` is the HTTP status (0 when no answer came), `status` the name in
    google.rpc.Code, `violations` maps wrong fields to what is wrong.
    """

    def __init__(self, message: str, code: int = 0, status: str = "",
                 violations: Optional[Mapping[str, str]] = None):
        super().__init__(message)
        self.code = code
        self.status = status
        self.violations: Dict[str, str] = dict(violations or {})


class InvalidArgument(ApiError, ValueError):
    """The document or an argument is wrong; `violations` says where."""


class FailedPrecondition(ApiError):
    """Right in itself, but not in the present state of the study or trial."""


class PermissionDenied(ApiError):
    """No token, a wrong one, or one that may not do this."""


class NotFound(ApiError):
    """There is no such study or trial."""


class NoTrialYet(NotFound):
    """The study has no succeeded trial, so there is no best one."""


class Conflict(ApiError):
    """The name is taken, or someone else changed the thing meanwhile. Of a
    study with another spec `violations` has what differs."""


class ResourceExhausted(ApiError):
    """A limit of the server, such as the number of trials of a study."""


class Unavailable(ApiError):
    """The server cannot be reached, or says that it cannot serve now."""


class DeadlineExceeded(Unavailable):
    """No answer came in time. Whether a change was made is not known."""


class TrialsFailed(Exception):
    """The first trials of a function failed alike; the text has the error and
    its traceback. The trials are open."""


_BY_STATUS: Dict[str, Type[ApiError]] = {
    "INVALID_ARGUMENT": InvalidArgument,
    "FAILED_PRECONDITION": FailedPrecondition,
    "UNAUTHENTICATED": PermissionDenied,
    "PERMISSION_DENIED": PermissionDenied,
    "NOT_FOUND": NotFound,
    "ALREADY_EXISTS": Conflict,
    "ABORTED": Conflict,
    "RESOURCE_EXHAUSTED": ResourceExhausted,
    "UNAVAILABLE": Unavailable,
    "DEADLINE_EXCEEDED": DeadlineExceeded,
}
# An Operation has google.rpc.Code's numbers.
_NUMBERS = {3: "INVALID_ARGUMENT", 4: "DEADLINE_EXCEEDED", 5: "NOT_FOUND",
            8: "RESOURCE_EXHAUSTED", 9: "FAILED_PRECONDITION",
            10: "ABORTED", 14: "UNAVAILABLE"}


def from_answer(code: int, body: Any) -> ApiError:
    """The exception for an HTTP status and its decoded JSON body."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return ApiError("HTTP status %d, and no error document" % code, code)
    violations = {}
    for detail in error.get("details", ()):
        for item in detail.get("fieldViolations", ()):
            violations[item.get("field", "")] = item.get("description", "")
    status = error.get("status", "")
    lines = ["%s: %s" % item if item[0] else item[1]
             for item in violations.items()]
    # The message is the first of the violations, if there are any; but what
    # differs needs a sentence before it.
    if not lines or status == "ALREADY_EXISTS":
        lines.insert(0, error.get("message", "HTTP status %d" % code))
    kind = _BY_STATUS.get(status, ApiError)
    return kind("\n".join(lines), code, status, violations)


def response_of(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a done Operation of Google's API brought; raises its error."""
    if "error" not in operation:
        response: Mapping[str, Any] = operation["response"]
        return response
    error = operation["error"]
    status = _NUMBERS.get(error.get("code"), "")
    raise _BY_STATUS.get(status, ApiError)(error.get("message", ""),
                                           status=status)
