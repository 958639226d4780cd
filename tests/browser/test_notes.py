"""Notes and tags on the dashboard: shown, edited, hostile ones as text."""

import dashboard
import browser
import harness
import tap
from dashboard import behaves, show, study

ROOT = "/v1/projects/local/locations/local"
OURS = "/hypertune/v1/studies/"
NOTE = """# Findings

Rate of **0.1** and *warm* `--up`:

- diverges
- see [the paper](https://papers.example/1) and https://papers.example/2.

3. third

> quoted

```
x = <b>1</b>
```
"""
HOSTILE = """# <img src=x onerror="document.title='owned'">
<script>document.title = "owned"</script>
[click](javascript:document.title='owned') [data](data:text/html,owned)
[two](https://ok.example/"onmouseover="alert(1)) **<b>bold</b>**
\u202etxet ```
""" + "*" * 5000 + "[" * 5000 + "`" * 5000

server = page = None


def make_study(name):
    status, made = server.call("POST", ROOT + "/studies", {
        "displayName": name, "studySpec": {
            "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "parameters": [{"parameterId": "x", "doubleValueSpec": {
                "minValue": 0, "maxValue": 1}}]}})
    tap.equal(status, 200, made)
    number = int(made["name"].rsplit("/", 1)[1])
    for n in (1, 2):
        status, answer = server.call(
            "POST", "%s/studies/%d/trials" % (ROOT, number), {
                "parameters": [{"parameterId": "x", "value": n / 10}],
                "finalMeasurement": {"metrics": [
                    {"metricId": "loss", "value": n}]}})
        tap.equal(status, 200, answer)
    return number


def notes(number, rest=""):
    return server.get("%s%d%s/notes" % (OURS, number, rest))


def write(number, rest="", **changes):
    status, answer = server.call("PATCH", "%s%d%s/notes" % (
        OURS, number, rest), changes)
    tap.equal(status, 200, answer)


def tags_in_note():
    return page.run("return [...document.querySelectorAll('.notes *')]"
                    ".map(one => one.localName)")


def a_note_is_shown_as_it_is_meant():
    number = make_study("meant")
    write(number, note=NOTE, tags=["fig.3"])
    show(page, study(number), "Findings")
    page.wait_text("fig.3", ".notes")
    found = tags_in_note()
    for tag in ("h3", "strong", "em", "code", "ul", "ol", "blockquote", "pre"):
        tap.contains(tag, found)
    links = page.run("return [...document.querySelectorAll('.notes a')]"
                     ".map(one => [one.href, one.rel])")
    tap.equal(links, [["https://papers.example/%d" % n, "noopener noreferrer"]
                      for n in (1, 2)])
    tap.contains("x = <b>1</b>", page.text(".notes pre"))
    behaves(page, "a note")


def hostile_notes_are_text():
    number = make_study("hostile")
    write(number, "/trials/1", note=HOSTILE)
    show(page, study(number, "trials/1"), "onerror")
    found = tags_in_note()
    for tag in ("img", "script", "b"):
        tap.lacks(tag, found)
    links = page.run("return [...document.querySelectorAll('.notes a')]"
                     ".map(one => one.protocol)")
    tap.equal(set(links) <= {"https:"}, True, links)
    tap.equal(page.run("return [...document.querySelectorAll('.notes *')]"
                       ".flatMap(one => one.getAttributeNames())"
                       ".filter(name => name.startsWith('on'))"), [])
    tap.lacks("owned", page.run("return document.title"))
    for width in (1400, 800, 390):
        page.resize(width, 900)
        tap.equal(page.run(dashboard.WIDTH), "", width)
    page.resize(1400, 1000)
    behaves(page, "a hostile note")


def a_note_is_edited_and_starred():
    number = make_study("edited")
    rest = "/trials/2"
    write(number, rest, note="before", tags=["old"])
    show(page, study(number, "trials/2"), "before")
    page.click(".notes button", "Edit notes")
    page.run("document.querySelector('dialog textarea').value = '**after**';"
             "document.querySelector('dialog input').value = 'new, good'")
    page.click("dialog button.primary", "Save")
    page.wait_text("after", ".notes strong")
    tap.equal(notes(number, rest), {"note": "**after**",
                                    "tags": ["good", "new"]})
    page.click(".notes button", "☆ Favourite")
    page.wait("document.querySelector('.notes [aria-pressed=true]') !== null")
    tap.contains("favourite", notes(number, rest)["tags"])
    behaves(page, "an edit")


def an_edit_does_not_overwrite_another():
    number = make_study("raced")
    write(number, note="first")
    show(page, study(number), "first")
    page.click(".notes button", "Edit notes")
    write(number, note="second")
    page.run("document.querySelector('dialog textarea').value = 'third'")
    page.click("dialog button.primary", "Save")
    page.wait_text("has changed meanwhile", "dialog")
    tap.equal(notes(number)["note"], "second")
    page.click("dialog button", "Back")
    page.wait_text("second", ".notes")
    complaint, = page.complaints()
    tap.contains("409", complaint)


def trials_are_found_by_their_tags():
    number = make_study("found")
    write(number, "/trials/2", tags=["good", "favourite"])
    show(page, study(number, "trials"), "2 trials")
    page.type("#main input[type=search]", "tags~good")
    page.wait_text("1 of 2", "#main")
    tap.contains("★", page.text("#main table"))
    write(number, tags=["paper"])
    show(page, "#/studies", "paper")
    page.type("#main input[type=search]", "paper")
    page.wait("document.querySelectorAll('#main tbody tr').length === 1")
    behaves(page, "a filter")


def stars():
    """Which rows are favourites, from above."""
    return page.run("""
        return [...document.querySelectorAll("#main tbody button.star")].map(
          one => one.ariaPressed === "true")""")


def favourites_are_chosen_in_the_rows_of_a_table():
    number, other = make_study("starred"), make_study("plain")
    write(number, tags=["paper"])
    show(page, "#/studies", "starred")
    page.click("button.star", "Favourite %d" % number)
    page.wait("[...document.querySelectorAll('button.star')].some("
              "one => one.textContent === '★')")
    tap.equal(notes(number)["tags"], ["favourite", "paper"])
    tap.equal(notes(other)["tags"], [])
    page.click("button", "Favourites only")
    page.wait("document.querySelectorAll('#main tbody tr').length === 1")
    tap.contains("paper", page.text("#main tbody"))
    page.click("button.star", "Favourite %d" % number)
    page.wait_text("No study is like that.", "#main")
    tap.equal(notes(number)["tags"], ["paper"])
    show(page, study(number, "trials"), "2 trials")
    page.run("document.querySelector('table[role=grid]').focus()")
    page.press("ArrowDown", "f")
    page.wait("document.querySelector('button.star').textContent === '★'")
    tap.equal(stars(), [True, False])
    tap.equal(notes(number, "/trials/2")["tags"], ["favourite"])
    page.click("button", "Favourites only")
    page.wait_text("1 of 2", "#main")
    page.open(page.run("return location.href"))
    page.wait_text("1 of 2", "#main")
    behaves(page, "favourites")


def a_narrow_table_has_all_that_counts_without_scrolling():
    number = make_study("a name that is longer than a telephone is wide, " * 2)
    write(number, tags=["paper"])
    page.resize(390, 844)
    try:
        for hash_, wanted in (
                ("#/studies", ("running", "loss = 1", "2")),
                (study(number, "trials"), ("succeeded", "2"))):
            show(page, hash_, wanted[0])
            page.wait("document.querySelector('.long.brief tbody tr')")
            tap.equal(page.run(dashboard.WIDTH), "", hash_)
            tap.equal(page.run("""
                const box = document.querySelector(".long");
                return box.scrollWidth <= box.clientWidth"""), True, hash_)
            row, cut = page.run("""
                const row = [...document.querySelectorAll(".long tbody tr:not(.gap)")]
                  .find(one => one.querySelector(".row"));
                const {right} = document.querySelector(".long").getBoundingClientRect();
                return [row.innerText, [...row.querySelectorAll(".row *, input, button")].filter(
                  one => one.getBoundingClientRect().right > right).map(one => one.outerHTML)]""")
            for text in wanted:
                tap.contains(text, row)
            tap.equal(cut, [], hash_)
        page.click("th button", "loss")
        page.wait("document.querySelector('th button:nth-of-type(3)')"
                  ".textContent.endsWith('▴')")
        page.resize(1400, 1000)
        page.wait("!document.querySelector('.long.brief')")
        tap.equal(page.count("thead th") > 5, True)
    finally:
        page.resize(1400, 1000)
    behaves(page, "narrow tables")


def main():
    global server, page
    with harness.Server("--runner", "none", "--auth", "none") as server, \
            browser.Browser() as page:
        page.open(server.http + "/#/studies")
        tap.run([
            a_note_is_shown_as_it_is_meant,
            hostile_notes_are_text,
            a_note_is_edited_and_starred,
            an_edit_does_not_overwrite_another,
            trials_are_found_by_their_tags,
            favourites_are_chosen_in_the_rows_of_a_table,
            a_narrow_table_has_all_that_counts_without_scrolling,
        ])


if __name__ == "__main__":
    main()
