"""Notes and tags of studies and trials: what may be written, by whom, and that
it is kept and found."""

import os

import api
import backups
import harness
import tap

OURS = api.OURS + "/studies/"
NOTHING = {"note": "", "tags": []}
# In no way special to the server.
HOSTILE = ("# <script>alert(1)</script>\n[x](javascript:alert(2)) "
           "\u202e'; DROP TABLE metadata; -- \U0001f642 `\\` \"\r\n\t")
server = None


def create(name):
    answer = api.send(server, "POST", api.JOBS, api.job(name))
    tap.equal(answer.status, 200, answer.body)


def with_trials(name):
    """A study of clients with three trials that ended."""
    answer = api.send(server, "POST", api.STUDIES, {
        "displayName": name, "studySpec": api.JOB["studySpec"],
        "hypertune": {"name": name}})
    tap.equal(answer.status, 200, answer.body)
    for n in range(1, 4):
        made = api.send(server, "POST", OURS + name + "/trials", {
            "parameters": [{"parameterId": "lr", "value": n / 10}],
            "finalMeasurement": {"metrics": [
                {"metricId": "accuracy", "value": n}]}})
        tap.equal(made.status, 200, made.body)


def change(path, status=200, auth=True, **body):
    answer = api.send(server, "PATCH", OURS + path + "/notes", body, auth=auth)
    tap.equal(answer.status, status, answer.body)
    return answer.json()


def get(path):
    return server.get(OURS + path)


def events(name):
    return [(event["kind"], event.get("trial", 0), event["reason"])
            for event in get(name + "/events")["events"]
            if event["kind"].endswith(".noted")]


def refused(path, **body):
    return str(change(path, 400, **body)["error"])


def a_study_and_its_trials_have_their_own():
    with_trials("own")
    for path in ("own", "own/trials/1", "own/trials/2"):
        tap.equal(get(path + "/notes"), NOTHING, path)
    tap.equal(change("own", note="all", tags=["b", "a", "b"]),
              {"note": "all", "tags": ["a", "b"]})
    tap.equal(change("own/trials/2", note=HOSTILE, addTags=["favourite"]),
              {"note": HOSTILE, "tags": ["favourite"]})
    tap.equal(get("own/notes"), {"note": "all", "tags": ["a", "b"]})
    tap.equal(get("own/trials/1/notes"), NOTHING)
    tap.equal(get("own")["hypertuneStatus"]["tags"], ["a", "b"])
    shown = {trial["id"]: trial["hypertune"].get("tags")
             for trial in get("own/trials")["trials"]}
    tap.equal(shown, {"1": None, "2": ["favourite"], "3": None})
    tap.equal(get("own/trials/2")["hypertune"]["tags"], ["favourite"])


def tags_are_added_and_removed_one_by_one():
    create("ones")
    change("ones", tags=["a", "b"])
    tap.equal(change("ones", addTags=["c", "a"])["tags"], ["a", "b", "c"])
    tap.equal(change("ones", addTags=["d"], removeTags=["a", "none"])["tags"],
              ["b", "c", "d"])
    tap.equal(change("ones")["tags"], ["b", "c", "d"], "nothing is asked")
    tap.equal(change("ones", tags=[]), NOTHING)
    tap.lacks("tags", get("ones")["hypertuneStatus"])


def each_change_has_an_event_and_a_line_of_the_audit():
    with_trials("told")
    before = get("told")["hypertuneStatus"]["revision"]
    change("told/trials/3", note="x", addTags=["good", "b"])
    change("told/trials/3", note="x", addTags=["good"])
    change("told", note="y")
    change("told", note="")
    tap.equal(events("told"), [
        ("trial.noted", 3, "tags: b good"),
        ("trial.noted", 3, "note was written"),
        ("study.noted", 0, "note was written"),
        ("study.noted", 0, "no note any more")])
    table = get("told/table?since=%d" % before)
    at = table["columns"].index("tags")
    tap.equal([(row[0], row[at]) for row in table["rows"]], [(3, "b good")])
    lines = server.get(api.OURS + "/audit?study=told&limit=100")["lines"]
    tap.equal(sum("notes" in line["action"] for line in lines), 4)


def what_is_too_much_or_no_tag_is_refused():
    create("bounds")
    longest = "\u00e4" * 32768
    tap.equal(change("bounds", note=longest)["note"], longest)
    tap.contains("over 65536 bytes", refused("bounds", note=longest + "a"))
    many = ["t%d" % n for n in range(32)]
    tap.equal(len(change("bounds", tags=many)["tags"]), 32)
    tap.contains("33 tags", refused("bounds", addTags=["more"]))
    tap.contains("33 items", refused("bounds", tags=many + ["more"]))
    for wrong in ("", "a b", "-a", "a,b", "x" * 41, "<b>", "\u00e4", "a\n"):
        tap.contains("is no tag", refused("bounds", addTags=[wrong]), wrong)
    for wrong in ({"note": 7}, {"tags": "a"}, {"tags": [1]}, {"colour": "red"}):
        refused("bounds", **wrong)
    # Nothing of a request is done when a part of it is wrong.
    refused("bounds", note="another", addTags=["b c"])
    tap.equal(get("bounds/notes")["note"], longest)
    change("bounds/trials/9", 404, note="x")
    change("none", 404, note="x")


def a_second_writer_does_not_overwrite_the_first():
    create("raced")
    change("raced", expect="", note="one")
    lost = change("raced", 409, expect="", note="two", addTags=["lost"])
    tap.equal(lost["error"]["status"], "ABORTED")
    tap.equal(get("raced/notes"), {"note": "one", "tags": []})
    change("raced", expect="one", note="two")


def only_who_may_submit_may_write():
    create("guarded")
    change("guarded", note="internal", tags=["internal"])

    def secret(role, **more):
        answer = api.send(server, "POST", api.OURS + "/tokens",
                          dict({"role": role}, **more))
        tap.equal(answer.status, 200, answer.body)
        return answer.json()["secret"]
    reader = secret("read", name="reader")
    change("guarded", 403, reader, note="x")
    change("guarded", 401, None, note="x")
    change("guarded", 200, secret("submit", name="submitter"), addTags=["x"])
    read = api.ask(server, "GET", OURS + "guarded/notes", auth=reader)
    tap.equal(read.json()["note"], "internal")
    share = secret("share", study="guarded")
    for path in ("", "/table", "/trials?filter=tags:internal"):
        answer = api.ask(server, "GET", OURS + "guarded" + path, auth=share)
        tap.equal(answer.status, 200, path)
        tap.lacks(b"internal", answer.body, path)
    tap.equal(api.ask(server, "GET", OURS + "guarded/notes",
                      auth=share).status, 403)


def tags_are_found():
    with_trials("found")
    create("other")
    change("found", tags=["fig.3", "favourite"])
    change("found/trials/1", tags=["good"])
    change("found/trials/3", tags=["good", "bad"])

    def trials(text):
        return [trial["id"] for trial in get(
            "found/trials?filter=" + text)["trials"]]

    def studies(text):
        return [study["hypertuneStatus"]["name"] for study in server.get(
            api.OURS + "/studies?filter=" + text)["studies"]]
    tap.equal(trials("tags:good"), ["1", "3"])
    tap.equal(trials("tags:good%20AND%20NOT%20tags:bad"), ["1"])
    tap.equal(trials("NOT%20tags:*"), ["2"])
    tap.equal(studies("tags:favourite"), ["found"])
    tap.equal(studies('tags:"fig.3"'.replace('"', "%22")), ["found"])
    tap.contains("other", studies("NOT%20tags:*"))


def metadata_of_the_namespace_have_the_same_rules():
    with_trials("kept")

    def write(status, key, value):
        answer = api.send(server, "PATCH", OURS + "kept/metadata", {
            "metadata": [{"trial": 2, "ns": "hypertune", "key": key,
                          "value": value}]})
        tap.equal(answer.status, status, answer.body)
    write(200, "tags", " b  a b ")
    write(200, "note", "n")
    tap.equal(get("kept/trials/2/notes"), {"note": "n", "tags": ["a", "b"]})
    tap.equal(len(events("kept")), 2)
    for key, value in (("tags", "a,b"), ("note", "x" * 65537),
                       ("tags", " ".join("t%d" % n for n in range(33))),
                       ("other", "x")):
        write(400, key, value)


def they_outlive_a_restart_a_backup_and_a_deletion_of_others():
    with_trials("lasting")
    change("lasting", note=HOSTILE, tags=["a"])
    change("lasting/trials/2", note="two", tags=["b"])
    change("lasting/trials/3", note="three", tags=["c"])
    number = get("lasting")["name"].rsplit("/", 1)[1]
    tap.equal(api.ask(server, "DELETE", "%s%s/trials/3" % (
        harness.STUDIES, number)).status, 200)
    kept = get("lasting/metadata")["metadata"]
    tap.lacks("three", [row["value"] for row in kept])
    server.stop()
    server.start()
    tap.equal(get("lasting/notes"), {"note": HOSTILE, "tags": ["a"]})
    copy = backups.make(server)
    change("lasting", note="after the copy", tags=[])
    server.stop()
    os.rename(server.data, server.data + "-old")
    made = backups.restore(copy.replace(server.data, server.data + "-old"),
                           server.data)
    tap.equal(made.returncode, 0, made.stderr)
    server.start()
    tap.equal(get("lasting/notes"), {"note": HOSTILE, "tags": ["a"]})
    tap.equal(get("lasting/trials/2/notes"), {"note": "two", "tags": ["b"]})


def main():
    global server
    with harness.Server("--runner", "none") as server:
        tap.run([
            a_study_and_its_trials_have_their_own,
            tags_are_added_and_removed_one_by_one,
            each_change_has_an_event_and_a_line_of_the_audit,
            what_is_too_much_or_no_tag_is_refused,
            a_second_writer_does_not_overwrite_the_first,
            only_who_may_submit_may_write,
            tags_are_found,
            metadata_of_the_namespace_have_the_same_rules,
            they_outlive_a_restart_a_backup_and_a_deletion_of_others,
        ])


if __name__ == "__main__":
    main()
