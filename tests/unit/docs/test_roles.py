#!/usr/bin/env python3
"""docs/security.md says which routes each token opens, as the table of routes
does."""
import os
import re
import subprocess

import tap
from tree import ROOT

SHORT = (("/hypertune/v1", "…"),
         ("/v1/projects/{project}/locations/{location}", "LOCATION"))
ROUTE = re.compile(r'\.method = \(?("[A-Z]+")\)?,\s*\.pattern = '
                   r'\(?((?:"[^"]*"\s*)+)\)?,(?:\s*\.needs = ([^,]*),)?')


def routes():
    """(method, path, set of roles) of each; an empty set is open to all."""
    text = subprocess.run(
        ["gcc", "-E", "-P", "-I.", "-D_GNU_SOURCE",
         "tuner/http/route_table.c"], cwd=ROOT, check=True,
        stdout=subprocess.PIPE, encoding="utf-8").stdout
    table = text.split("route_table[] = {")[1].split("};")[0]
    found = []
    for method, path, needs in ROUTE.findall(table):
        roles = set(re.findall("GATE_([A-Z]+)", needs))
        found.append((method.strip('"'), "".join(re.findall('"([^"]*)"', path)),
                      frozenset(role.lower() for role in roles - {"OPEN"})))
    assert len(found) == table.count(".method"), "all routes were read"
    return found


def shortened(path):
    for whole, short in SHORT:
        path = path.replace(whole, short, 1)
    return path


def named(table, chosen):
    return ", ".join("`%s %s`" % (method, shortened(path))
                     for method, path, roles in table if chosen(method, roles))


def rows(table):
    return {
        "no token": named(table, lambda _, roles: not roles),
        "`share`": named(table, lambda _, roles: "share" in roles),
        "`runner`": named(table, lambda _, roles: "runner" in roles),
        "`join`": named(table, lambda _, roles: "join" in roles),
        "`read`": "each other GET, and " + named(
            table, lambda method, roles: method != "GET" and roles == {"read"}),
        "`submit`": "what `read` opens, each other change, and " + named(
            table, lambda method, roles: method == "GET" and
            roles == {"submit", "runner"}),
        "`admin`": "all but the row of `join`; alone " + named(
            table, lambda _, roles: roles == {"admin"}),
    }


def the_page_has_what_the_table_of_routes_says():
    with open(os.path.join(ROOT, "docs/security.md")) as file:
        section = file.read().split("## What a token opens\n")[1]
    page = dict(line.strip("| ").split(" | ", 1)
                for line in section.split("\n## ")[0].splitlines()
                if line.startswith("| ") and not line.startswith("| Token"))
    for token, opened in rows(routes()).items():
        tap.equal(page.get(token), opened, "the row of %s" % token)


def each_other_route_is_a_question_or_a_change():
    for method, path, roles in routes():
        if not roles & {"share", "runner", "join", "admin"} and roles:
            tap.equal(len(roles), 1, path)
            tap.true(roles <= {"read", "submit"}, path)
            tap.true(method != "GET" or roles == {"read"}, path)


if __name__ == "__main__":
    tap.run([the_page_has_what_the_table_of_routes_says,
             each_other_route_is_a_question_or_a_change])
