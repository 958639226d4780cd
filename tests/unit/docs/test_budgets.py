#!/usr/bin/env python3
"""docs/operations.md has the rows of tuner/base/budget.c, which /metrics shows."""
import os
import re

import tap
from tree import ROOT


def rows_of_source():
    with open(os.path.join(ROOT, "tuner/base/budget.c")) as file:
        table = file.read().split("budget_table[BUDGETS] = {")[1].split("};")[0]
    row = re.compile(r'\{"([a-z-]+)",[^"]*"([a-z]+)",\s*((?:"[^"]*"\s*)+)\}')
    return [(name, whose, "".join(re.findall('"([^"]*)"', text)))
            for name, whose, text in row.findall(table)]


def rows_of_page():
    with open(os.path.join(ROOT, "docs/operations.md")) as file:
        section = file.read().split("## Budgets\n")[1].split("\n## ")[0]
    cells = [line.strip("|").split(" | ") for line in section.splitlines()
             if line.startswith("| `")]
    return [(cell[0].strip(" `"), cell[2].strip(), cell[3].strip())
            for cell in cells]


def the_page_has_the_rows_of_the_table():
    source = rows_of_source()
    tap.true(len(source) > 5, "the table was read")
    tap.equal(rows_of_page(), source, "the page has its rows in its order")


if __name__ == "__main__":
    tap.run([the_page_has_the_rows_of_the_table])
