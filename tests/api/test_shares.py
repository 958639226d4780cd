"""The token of one study: what it shows, and when it ends."""

import json

import api
import harness
import tap

TOKENS = api.OURS + "/tokens"
# In each place of a spec that may have a password.
PASSWORD = "hunter2"
server = None


def share(study, **more):
    return api.send(server, "POST", TOKENS,
                    dict(role="share", study=study, **more))


def create(name, **changes):
    job = api.job(name, **changes)
    container = job["trialJobSpec"]["workerPoolSpecs"][0]["containerSpec"]
    container["command"] = ["sh", "-c", PASSWORD]
    container["env"] = [{"name": "KEY", "value": PASSWORD}]
    job["hypertune"]["workdir"] = "/home/" + PASSWORD
    answer = api.send(server, "POST", api.JOBS, job)
    tap.equal(answer.status, 200, answer.json())
    return answer.json()["name"].rsplit("/", 1)[1]


def get(path, auth):
    return api.ask(server, "GET", api.OURS + path, auth=auth)


def a_share_has_a_name_an_end_and_a_study():
    number = create("named")
    made = share("named").json()
    tap.equal((made["role"], made["study"], made["secret"][:5]),
              ("share", number, "ht_h_"))
    tap.equal(made["name"].startswith("share-%s-" % number), True, made)
    tap.equal("expireTime" in made, True, made)
    tap.equal(share("named", name="to-eve").json()["name"], "to-eve")
    session = get("/session", made["secret"]).json()
    tap.equal((session["roles"], session["study"]), (["share"], number))


def wrong_wishes_name_the_member():
    create("wished")
    for wish, code, said in (
            ({"role": "share", "name": "x"}, 400, "study"),
            ({"role": "read", "name": "x", "study": "wished"}, 400, "study"),
            ({"role": "share", "study": "none"}, 404, "no study none"),
            ({"role": "share", "study": "wished", "project": "local"}, 400,
             "project"),
            ({"role": "share", "study": "wished", "name": "share"}, 400,
             "name")):
        answer = api.send(server, "POST", TOKENS, wish)
        tap.equal(answer.status, code, wish)
        tap.contains(said, answer.error()["message"])


def what_a_spec_runs_and_other_studies_are_not_shown():
    """The pages show results, not where they come from."""
    create("secret-teacher")
    create("pupil", hypertune={"name": "pupil", "seed": "1",
                               "warmStart": ["secret-teacher"]})
    secret = share("pupil").json()["secret"]
    harness.wait_until(
        lambda: get("/studies/pupil/trials", secret).json()["trials"],
        "a trial")
    admin = json.dumps(get("/studies/pupil", True).json())
    for hidden in (PASSWORD, "secret-teacher"):
        tap.contains(hidden, admin)
    for path in ("", "/table", "/trials", "/trials/1", "/measurements"):
        answer = get("/studies/pupil" + path, secret)
        tap.equal(answer.status, 200, path)
        text = json.dumps(answer.json())
        tap.lacks(PASSWORD, text, path)
        tap.lacks("secret-teacher", text, path)
    shown = get("/studies/pupil", secret).json()
    tap.equal(shown["studySpec"]["metrics"][0]["metricId"], "accuracy")
    tap.equal(get("/studies/pupil/trials/1", secret).json()["hypertune"]
              ["params"].keys(), {"lr"})


def its_stream_has_its_study_alone():
    create("before")
    number = create("streamed")
    create("after")
    secret = share("streamed").json()["secret"]
    sock = api.connect(server)
    with sock, sock.makefile("rb") as file:
        sock.sendall(api.head(server, "GET", api.OURS + "/events",
                              "Accept: text/event-stream", auth=secret))
        create("later")
        api.send(server, "POST", api.OURS + "/studies/streamed:cancel", {})
        seen = set()
        state = None
        while state is None or json.loads(state)["revision"] < get(
                "/studies/streamed", True).json()["hypertuneStatus"][
                    "revision"]:
            line = file.readline().decode()
            assert line, "the stream ended"
            if line.startswith("data: "):
                state = line[len("data: "):]
                seen.add(json.loads(state)["study"])
    tap.equal(seen, {int(number)})


def the_audit_log_names_the_share_and_its_study():
    create("noted")
    made = share("noted").json()
    tap.equal(api.send(server, "DELETE", api.OURS + "/studies/noted", {},
                       auth=made["secret"]).status, 403)
    def lines_of(query):
        return api.ask(server, "GET", api.OURS + "/audit" + query).json()[
            "lines"]

    refused = harness.wait_until(
        lambda: lines_of("?principal=" + made["name"]), "the refusal's line")
    tap.equal([line["code"] for line in refused], [403])
    lines = lines_of("")
    tap.equal([(line["study"], line["detail"]) for line in lines
               if made["name"] in line.get("detail", "")],
              [("noted", "token %s, role share" % made["name"])])


def a_share_ends_with_its_study():
    """Jobs and studies of clients are deleted by different methods."""
    number = create("gone")
    client = api.send(server, "POST", api.STUDIES, {
        "displayName": "clients", "studySpec": api.JOB["studySpec"]}).json()
    api.send(server, "POST", api.OURS + "/studies/gone:cancel", {})
    harness.wait_until(lambda: get("/studies/gone", True).json()["state"] ==
                       "JOB_STATE_CANCELLED", "the end")
    for study, path in (
            (number, api.OURS + "/studies/gone"),
            (client["name"].rsplit("/", 1)[1], "/v1/" + client["name"])):
        made = share(study).json()
        tap.equal(get("/studies/" + study, made["secret"]).status, 200)
        tap.equal(api.send(server, "DELETE", path, {}).status, 200)
        refused = get("/session", made["secret"])
        tap.equal(refused.status, 401)
        tap.contains("was revoked at", refused.error()["message"])


def a_share_is_there_after_a_restart():
    number = create("lasting")
    made = share("lasting", expire="1h").json()
    server.stop()
    server.start()
    tap.equal(get("/studies/" + number, made["secret"]).status, 200)
    tap.equal(get("/studies", made["secret"]).status, 403)
    tap.equal(api.send(server, "POST", TOKENS + "/%s:revoke" % made["name"],
                       {}).status, 200)
    tap.equal(get("/studies/" + number, made["secret"]).status, 401)


with harness.Server("--runner", "none") as server:
    tap.run([
        a_share_has_a_name_an_end_and_a_study,
        wrong_wishes_name_the_member,
        what_a_spec_runs_and_other_studies_are_not_shown,
        its_stream_has_its_study_alone,
        the_audit_log_names_the_share_and_its_study,
        a_share_ends_with_its_study,
        a_share_is_there_after_a_restart,
    ])
