"""A server whose lists come in small pages, whatever is asked for."""

import api
import harness
import tap
import vizier

JOBS = "/v1/projects/local/jobs"
server = None


def pages(path, key, query=""):
    """The sizes of all pages, and what `names` finds in them."""
    sizes, names, token = [], [], ""
    while True:
        page = server.get(path + "?pageToken=" + token + query)
        sizes.append(len(page[key]))
        names += [item.get("name") or item["jobId"] for item in page[key]]
        token = page.get("nextPageToken")
        if not token:
            return sizes, names


def lists_of_every_kind_have_no_longer_page():
    for number in range(5):
        server.call("POST", api.JOBS, api.job("job%d" % number))
    for path, key in ((api.JOBS, "hyperparameterTuningJobs"),
                      (api.STUDIES, "studies"), (JOBS, "jobs"),
                      (api.OURS + "/studies", "studies")):
        for query in ("", "&pageSize=100", "&pageSize=2"):
            sizes, names = pages(path, key, query)
            tap.equal(sizes, [2, 2, 1], path + query)
            tap.equal(len(set(names)), 5)
        tap.equal(pages(path, key, "&pageSize=1")[0], [1] * 5)
    sizes, names = pages(api.STUDIES + "/job0/trials", "trials")
    tap.equal((sizes, len(names)), ([1], 1))


def the_command_reads_all_pages():
    listed = server.cli("list", "-o", "name").stdout.split()
    tap.equal(sorted(listed), ["job%d" % number for number in range(5)])


def the_command_proves_the_suggestions_of_all_pages():
    study = vizier.Study(server)
    study.suggest(5)
    said = server.cli("replay", study.name.rsplit("/", 1)[1]).stdout
    tap.equal(said.splitlines()[-1], "5 of 5 suggestions are the same")


with harness.Server("--max-page", "2", "--runner", "none") as server:
    tap.run([lists_of_every_kind_have_no_longer_page,
             the_command_reads_all_pages,
             the_command_proves_the_suggestions_of_all_pages])
