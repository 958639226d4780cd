#!/usr/bin/env python3
"""spec.py - writes hypertune-spec.5 from proto/native.schema.json.

    python3 docs/man/spec.py > docs/man/hypertune-spec.5

A test compares the page with what this prints."""

import json
import os
import re
import textwrap

SCHEMA = os.path.join(os.path.dirname(__file__), "..", "..", "proto",
                      "native.schema.json")
HEAD = """\
.\\" Made by docs/man/spec.py from proto/native.schema.json.
.Dd November 21, 2026
.Dt HYPERTUNE-SPEC 5
.Os
.Sh NAME
.Nm hypertune-spec
.Nd what to tune and what to run
.Sh DESCRIPTION
A spec describes a study.
It is YAML or JSON;
.Ql hypertune init
writes one,
.Ql hypertune check
looks for mistakes and shows every one with its line and column,
.Ql hypertune help spec
lists the same fields as this page.
Job files of AI Platform and of Vertex AI are read too; what tells them apart
are their top-level members.
So are a sweep of Weights & Biases, an Experiment of Katib and a configuration
of Hydra whose sweeper is Optuna; a command behind
.Ql --
replaces theirs, and that of Hydra, which has none, is given so.
The search space that
.Ql optuna ask --search-space
takes is read where flags say the goal and the command.
What has no effect is named in a warning,
.Ql hypertune check FILE -o native
prints the spec that the file comes to.
.Sh THE FIELDS
"""
TAIL = """\
.Sh EXAMPLES
.Bd -literal -offset indent
spec: 1
name: digits
goal: maximize accuracy
parameters:
  lr: {type: double, min: 1e-5, max: 1e-1, scale: log}
  layers: {type: integer, min: 1, max: 8}
  batch: [32, 64, 128]
  opt: [adam, sgd]
trials: 40
parallel: 2
until: {target: 0.99, time: 2h}
command: [python3, train.py]
.Ed
.Sh SEE ALSO
.Xr hypertune 1
"""


def resolve(root, schema):
    while "$ref" in schema:
        found = root
        for key in schema["$ref"][2:].split("/"):
            found = found[key]
        schema = found
    return schema


def kind(root, schema):
    schema = resolve(root, schema)
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    if "type" in schema:
        types = schema["type"]
        return " | ".join(types) if isinstance(types, list) else types
    options = schema.get("oneOf", schema.get("anyOf", []))
    return " | ".join(filter(None, (kind(root, one) for one in options)))


def plain(text):
    """Roff text, one sentence a line."""
    lines = []
    for sentence in re.split(r"(?<=[A-Za-z0-9)]\.) (?=[A-Z])", text):
        lines += textwrap.wrap(sentence.replace("\\", "\\e"), 78,
                               break_on_hyphens=False)
    return "\n".join(("\\&" if line[0] in ".'" else "") + line
                     for line in lines)


def members(root, schema):
    """Fields of an object, of a map's values, and of every alternative."""
    found = list(schema.get("properties", {}).items())
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        found.append(("NAME", values))
    for one in schema.get("oneOf", []) + schema.get("anyOf", []):
        found += members(root, resolve(root, one))
    return found


def fields(root, schema):
    found = members(root, schema)
    if not found:
        return ""
    out = ".Bl -tag -width Ds\n"
    for name, field in found:
        field = resolve(root, field)
        macro = "Ar" if name == "NAME" else "Cm"
        out += ".It %s %s\n.Pq %s\n" % (macro, name, kind(root, field))
        if "description" in field:
            out += plain(field["description"]) + "\n"
        out += fields(root, field)
    return out + ".El\n"


if __name__ == "__main__":
    with open(SCHEMA, encoding="utf-8") as schema_file:
        whole = json.load(schema_file)
    print(HEAD + fields(whole, whole) + TAIL, end="")
