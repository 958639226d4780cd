"""The query of a request: every method takes its own names, once each, and what
is beside the fields of any method of Google's."""

import api
import harness
import tap

LEGACY = "/v1/projects/local/jobs"
ENTRIES = "/v2/entries:list"
SYSTEM = ("alt=json&%24alt=json%3Benum-encoding%3Dint&prettyPrint=false"
          "&%24.xgafv=2&key=k&fields=name&quotaUser=me&access_token=none"
          "&callback=f&oauth_token=t&uploadType=media&upload_protocol=raw"
          "&trace=t&userProject=p&alt=json")
JOB = {"jobId": "one", "trainingInput": {
    "masterConfig": {"imageUri": "gcr.io/demo/t"}}}
LOG = {"resourceNames": ["projects/local"], "filter": ""}

server = None


def requests():
    """Some of each API, in an order in which all of them can be done."""
    made = api.send(server, "POST", api.STUDIES, {
        "displayName": "asked", "studySpec": api.JOB["studySpec"]}).json()
    study = "/v1/" + made["name"]
    number = made["name"].split("/")[-1]
    return [("GET", api.JOBS, None), ("GET", "/v1beta1" + api.JOBS[3:], None),
            ("GET", study, None), ("GET", study + "/trials", None),
            ("POST", study + "/trials:suggest", {"suggestionCount": 1}),
            ("POST", api.STUDIES + ":lookup", {"displayName": "asked"}),
            ("GET", study + "/operations", None),
            ("POST", LEGACY, JOB), ("GET", LEGACY + "/one", None),
            ("POST", LEGACY + "/one:cancel", {}), ("POST", ENTRIES, LOG),
            ("GET", api.OURS + "/studies/%s/table" % number, None),
            ("POST", api.OURS + "/studies/%s:pause" % number, {}),
            ("GET", api.OURS + "/server", None), ("GET", "/metrics", None),
            ("DELETE", study, None)]


def ask(method, path, body):
    if body is None:
        return api.ask(server, method, path)
    return api.send(server, method, path, body)


def an_unknown_parameter_is_refused_everywhere_and_changes_nothing():
    for method, path, body in requests():
        answer = ask(method, path + "?colour=red&" + SYSTEM, body)
        tap.equal((answer.status, [
            violation["field"] for violation in
            answer.error()["details"][0]["fieldViolations"]]),
            (400, ["colour"]), path)
    tap.equal(api.ask(server, "GET", LEGACY).json(), {"jobs": []})
    kept = api.send(server, "POST", api.STUDIES + ":lookup",
                    {"displayName": "asked"}).json()
    tap.equal(kept["state"], "ACTIVE")
    tap.equal(api.ask(server, "DELETE", "/v1/" + kept["name"]).status, 200)


def what_all_methods_know_passes_everywhere():
    for method, path, body in requests():
        answer = ask(method, path + "?" + SYSTEM, body)
        tap.equal(answer.status, 200, path)


def a_name_may_be_said_as_protobuf_has_it():
    for name in "abc":
        api.send(server, "POST", api.STUDIES, {
            "displayName": name, "studySpec": api.JOB["studySpec"]})
    for query in ("page_size=2&read_mask=display_name",
                  "pageSize=2&readMask=displayName"):
        page = api.ask(server, "GET", api.STUDIES + "?" + query).json()
        tap.equal(page["studies"],
                  [{"displayName": "c"}, {"displayName": "b"}], query)
        again = api.ask(server, "GET", "%s?page_token=%s&page_size=2" % (
            api.STUDIES, page["nextPageToken"])).json()
        tap.equal([study["displayName"] for study in again["studies"]],
                  ["a"])


def numbers_are_numbers_said_once():
    made = api.send(server, "POST", api.STUDIES, {
        "displayName": "numbers", "studySpec": api.JOB["studySpec"]}).json()
    ours = api.OURS + "/studies/" + made["name"].split("/")[-1]
    for path, name in ((api.STUDIES, "pageSize"), (LEGACY, "pageSize"),
                       (ours + "/events", "since"),
                       (ours + "/table", "since"),
                       (ours + "/measurements", "pageSize"),
                       (ours + "/curves", "top")):
        for query in ("%s=", "%s", "%s=-1", "%s=two", "%s=1.5", "%s=0x2",
                      "%s=99999999999999999999", "%s=2&%s=3"):
            answer = api.ask(server, "GET", "%s?%s" % (
                path, query.replace("%s", name)))
            tap.equal((answer.status, [
                violation["field"] for violation in
                answer.error()["details"][0]["fieldViolations"]]),
                (400, [name]), "%s of %s" % (query, path))


def pages_of_the_dashboard_take_anything():
    for path in ("/?utm_source=mail", "/web/main.js?v=2", "/healthz?x=1&x=2"):
        tap.equal(api.ask(server, "GET", path, auth=None).status, 200, path)


with harness.Server("--runner", "none") as server:
    tap.run([
        an_unknown_parameter_is_refused_everywhere_and_changes_nothing,
        what_all_methods_know_passes_everywhere,
        a_name_may_be_said_as_protobuf_has_it,
        numbers_are_numbers_said_once,
        pages_of_the_dashboard_take_anything])
