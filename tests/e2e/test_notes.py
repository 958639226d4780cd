"""Notes and tags by the command and by Python, and in an exported study."""

import os
import subprocess

import harness
import tap

import hypertune

ESCAPES = "\x1b[31mred\x07"
server = None


def make(name):
    client = hypertune.Client(server.http, server.token_file)
    study = client.create_study(name, "loss", "minimize",
                                [hypertune.Double("x", 0, 1)])
    for trial in study.ask(3):
        trial.report(loss=trial.params["x"])
        trial.complete()
    return study


def cli(*words, **more):
    return server.cli(*words, **more).stdout


def the_command_writes_and_prints_notes():
    make("noted")
    tap.equal(cli("note", "noted"), "")
    cli("note", "noted", "# all\n\n*fine*")
    tap.equal(cli("note", "noted"), "# all\n\n*fine*\n")
    cli("note", "noted/2", "two")
    tap.equal(cli("note", "noted/2"), "two\n")
    tap.equal(cli("note", "noted/1"), "")
    given = subprocess.run(
        [server.program("hypertune"), "note", "noted/1", "-"], input="by\npipe",
        env={**os.environ, "HYPERTUNE_SERVER": server.http,
             "HYPERTUNE_TOKEN_FILE": server.token_file},
        timeout=harness.PATIENCE, encoding="utf-8", check=True)
    tap.equal(given.returncode, 0)
    tap.equal(cli("note", "noted/1"), "by\npipe\n")
    cli("note", "noted/1", "")
    tap.equal(cli("note", "noted/1"), "")
    cli("note", "noted/3", ESCAPES)
    tap.lacks("\x1b", cli("note", "noted/3"))
    tap.contains(ESCAPES, cli("note", "noted/3", "--raw"))
    missing = server.cli("note", "noted/9", "x", check=False)
    tap.equal(missing.returncode, 3, missing.stderr)


def the_command_tags_and_finds():
    make("tagged")
    make("plain")
    tap.lacks("TAGS", cli("list"))
    tap.equal(cli("tag", "tagged", "fig.3", "b"), "b fig.3\n")
    tap.equal(cli("tag", "tagged", "a", "--remove", "b"), "a fig.3\n")
    tap.equal(cli("tag", "tagged/2", "good"), "good\n")
    tap.equal(cli("tag", "tagged/best", "good", "top").split()[-1], "top")
    tap.equal(cli("tag", "tagged"), "a fig.3\n")
    tap.equal(cli("list", "--tag", "fig.3", "-o", "name"), "tagged\n")
    head, *rows = cli("list").split("\n")
    tap.contains("TAGS", head)
    tap.contains("a,fig.3", [row for row in rows if "tagged" in row][0])
    tap.contains("a,fig.3", cli("list", "-o", "csv"))
    found = cli("trials", "tagged", "--tag", "good", "-o", "name").split()
    tap.contains("tagged/2", found)
    tap.equal(len(found) < 3, True, found)
    tap.contains("good", cli("trial", "tagged/2"))
    tap.contains("fig.3", cli("describe", "tagged"))
    wrong = server.cli("tag", "tagged", "no,tag", check=False)
    tap.equal(wrong.returncode == 0, False)
    tap.contains("is no tag", wrong.stderr)


def python_has_them_as_properties():
    study = make("scripted")
    trial = study.trial(1)
    tap.equal((study.note, study.tags, trial.note, trial.tags),
              ("", [], "", []))
    study.note = "all of it"
    trial.note = "**one**"
    trial.tags = ["b", "a"]
    tap.equal((study.note, trial.note, trial.tags),
              ("all of it", "**one**", ["a", "b"]))
    tap.equal(trial.add_tags("c", "favourite"), ["a", "b", "c", "favourite"])
    tap.equal(trial.remove_tags("a", "none"), ["b", "c", "favourite"])
    study.tags = ("x",)
    tap.equal(study.tags, ["x"])
    tap.raises(TypeError, setattr, study, "tags", "word")
    tap.raises(hypertune.InvalidArgument, trial.add_tags, "a b")


def an_exported_study_keeps_them():
    study = make("packed")
    study.note = "to keep"
    study.tags = ["fig"]
    study.trial(2).note = "second"
    study.trial(2).tags = ["good"]
    folder = os.path.join(server.folder, "packed")
    cli("export", "packed", "-o", "dir", "--out", folder)
    cli("import", folder, "--name", "unpacked")
    tap.equal(cli("note", "unpacked"), "to keep\n")
    tap.equal(cli("tag", "unpacked"), "fig\n")
    tap.equal(cli("note", "unpacked/2"), "second\n")
    tap.equal(cli("tag", "unpacked/2"), "good\n")


def a_clone_begins_without_them():
    study = make("origin")
    study.note = "of the first"
    study.tags = ["fig"]
    cli("clone", "origin", "--name", "copied")
    tap.equal((cli("note", "copied"), cli("tag", "copied").strip()), ("", ""))
    tap.equal(cli("note", "origin"), "of the first\n")


def main():
    global server
    with harness.Server("--runner", "none") as server:
        tap.run([
            the_command_writes_and_prints_notes,
            the_command_tags_and_finds,
            python_has_them_as_properties,
            an_exported_study_keeps_them,
            a_clone_begins_without_them,
        ])


if __name__ == "__main__":
    main()
