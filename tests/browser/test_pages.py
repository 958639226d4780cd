"""Every page of the dashboard, of studies with no trial, one, some and ten
thousand: in a real browser, without a complaint of it."""

import time

import dashboard
import browser
import filling
import harness
import tap
from dashboard import TABS, behaves, show, study

SIZES = {"empty": 0, "one": 1, "some": 120, "many": 10000}
ALL_FAILED = "hopeless"

server = page = None
numbers = {}

# What must be read on a page, by the number of trials.
WORDS = {
    "overview": {0: "none yet", 1: "1 / 1", 120: "120 / 120",
                 10000: "10000 / 10000"},
    "parameters": {0: "No trial has a result yet.", 1: "Parallel coordinates",
                   120: "Parallel coordinates", 10000: "Parallel coordinates"},
    "trials": {0: "No trial has begun yet.", 1: "1 trial", 120: "120 trials",
               10000: "10000 trials"},
    "timeline": {0: "No trial has started yet.", 1: "1 slot busy",
                 120: "4 slots busy", 10000: "4 slots busy"},
    "config": {trials: "min: 0.0001" for trials in (0, 1, 120, 10000)},
}


def all_pages(*names):
    """(hash, text that it must show) of every page, those of studies for the
    names, or for all."""
    found = [("#/studies", "hopeless"), ("#/server", "Data folder"),
             ("#/new", "The spec is valid.")]
    sizes = {name: SIZES[name] for name in names or SIZES}
    for name, trials in sizes.items():
        found += [(study(numbers[name], tab), WORDS[tab][trials])
                  for tab in TABS]
    found += [(study(numbers[name], "trials/1"), "Trial 1")
              for name, trials in sizes.items() if trials > 0]
    return found


def open_dashboard(hash_="#/studies"):
    page.open(server.http + "/" + hash_)


def every_page_at_every_size_shows_what_it_should():
    open_dashboard()
    for hash_, text in all_pages():
        show(page, hash_, text)
        behaves(page, hash_)


def nothing_is_asked_of_others():
    tap.equal(page.strangers(server.http), [])


def no_page_is_wider_than_a_narrow_window():
    page.resize(800, 900)
    try:
        for hash_, text in all_pages("empty", "some"):
            show(page, hash_, text)
            tap.equal(page.run(dashboard.WIDTH), "", hash_)
    finally:
        page.resize(1400, 1000)


def titles_of_plots_are_whole_in_the_window_of_a_telephone():
    page.resize(420, 900)
    try:
        for tab in ("overview", "parameters"):
            show(page, study(numbers["some"], tab), WORDS[tab][120])
            tap.equal(page.run(dashboard.WIDTH), "", tab)
            tap.equal(page.run("""
                const titles = [...document.querySelectorAll(".plot h2")];
                return [titles.length > 2, titles.filter(one =>
                  one.scrollWidth > one.clientWidth).map(one => one.innerText)]"""),
                      [True, []], tab)
    finally:
        page.resize(1400, 1000)


def values_have_room_beside_long_names_in_a_narrow_window():
    page.resize(390, 844)
    try:
        show(page, study(numbers["some"], "trials/1"), "Trial 1")
        page.run("""document.querySelector("[aria-label=Result] dt").textContent =
            "a_metric_with_a_name_that_is_long_enough_to_be_in_the_way";""")
        tap.equal(page.run("""
            const {clientWidth} = document.querySelector("[aria-label=Result] dl");
            return [...document.querySelectorAll("[aria-label=Result] dd")]
              .filter(one => one.clientWidth < 0.4 * clientWidth).length"""),
                  0)
    finally:
        page.resize(1400, 1000)


def a_window_that_gets_narrower_keeps_plots_within():
    try:
        page.resize(1400, 6000)  # all plots are drawn
        show(page, study(numbers["some"], "parameters"), "Slices")
        page.resize(1400, 900)  # most are out of sight again
        page.run_later("""const [done] = arguments;
            requestAnimationFrame(() => requestAnimationFrame(() => done()))""")
        page.resize(420, 900)
        dashboard.settle(page)
        tap.equal(page.run("return document.documentElement.scrollWidth"), 420)
    finally:
        page.resize(1400, 1000)


def every_control_has_a_name():
    for hash_, text in all_pages("empty", "some"):
        show(page, hash_, text)
        tap.equal(page.run(dashboard.NAMELESS), [], hash_)


def every_text_can_be_read_in_light_and_in_dark():
    for dark in (True, False):
        page.dark(dark)
        for hash_ in ("#/studies", "#/server", "#/new",
                      *(study(numbers["some"], tab) for tab in TABS),
                      study(numbers["some"], "trials/7")):
            show(page, hash_)
            tap.equal(page.run(dashboard.FAINT), [],
                      "%s, dark: %s" % (hash_, dark))


def the_reader_chooses_light_or_dark():
    ground = "return getComputedStyle(document.body).backgroundColor"
    open_dashboard("#/studies")
    light = page.run(ground)
    page.click("button", "Dark colours")
    dark = page.run(ground)
    tap.true(dark != light, dark)
    open_dashboard("#/studies")
    tap.equal(page.run(ground), dark, "after another visit")
    page.click("button", "Light colours")
    tap.equal(page.run(ground), light)
    page.dark(True)
    page.wait("getComputedStyle(document.body).backgroundColor === '%s'" % dark,
              "the system's colours, which were chosen last")
    page.dark(False)
    behaves(page, "light and dark")


def moments_are_in_the_readers_time():
    page.cdp("Emulation.setTimezoneOverride", timezoneId="Asia/Tokyo")
    try:
        _, job = server.call("GET", "/hypertune/v1/studies/%d"
                             % numbers["some"])
        tokyo = time.gmtime(job["hypertuneStatus"]["createTimeMs"] // 1000
                            + 9 * 3600)
        open_dashboard(study(numbers["some"], "config"))
        page.wait_text(time.strftime("%Y-%m-%d %H:%M:%S", tokyo), "#main")
    finally:
        page.cdp("Emulation.setTimezoneOverride", timezoneId="")
    behaves(page, "another time zone")


def a_study_whose_trials_all_failed_tells_so():
    show(page, study(numbers[ALL_FAILED]), "exit 1")
    behaves(page, "a hopeless study")
    show(page, study(numbers[ALL_FAILED], "parameters"),
         "No trial has a result yet.")
    show(page, study(numbers[ALL_FAILED], "trials/2"), "Attempt 1: failed")
    behaves(page, "a failed trial")


def what_is_not_there_is_said_to_be_missing():
    for hash_, text in (("#/nothing", "There is no such page"),
                        (study(numbers["one"], "dreams"),
                         "The study has no such page"),
                        ("#/studies/999", "There is no such study."),
                        ("#/studies/nobody", "There is no such study."),
                        ("#/studies/50%", "There is no such study."),
                        (study(999, "trials/1"), "There is no such study."),
                        (study(numbers["one"], "trials/77"),
                         "There is no trial 77.")):
        show(page, hash_, text)
        behaves(page, hash_)


def picked(text):
    """(trials in the range, of all) as the page shows them."""
    words = text.split(" picked:")[0].split()
    return int(words[0]), int(words[-1])


def brush():
    """Picks a range of the first axis; returns how many trials are in it."""
    axis = page.run("""
        const box = document.querySelector(".parallel .brushes .brush-y .overlay, .brushes .brush-y .overlay")
          .getBoundingClientRect();
        return [box.x + box.width / 2, box.y, box.height]""")
    page.drag((axis[0], axis[1] + 5), (axis[0], axis[1] + axis[2] / 2))
    page.wait("document.querySelector('.ranges') !== null", "the range")
    inside, everything = picked(page.text(".ranges"))
    tap.equal((0 < inside < everything, everything), (True, 120), inside)
    return inside


def a_range_that_is_brushed_narrows_the_table():
    show(page, study(numbers["some"], "parameters"))
    inside = brush()
    page.click(".tabs a", "Trials")
    page.wait_text("%d of 120 trials" % inside, "#main")
    tap.equal(page.run("return document.querySelector('table[role=grid]')"
                       ".ariaRowCount"), str(inside + 1))
    page.click(".ranges button", "All trials")
    page.wait("document.querySelector('table[role=grid]').ariaRowCount"
              " === '121'", "all trials")
    behaves(page, "brushes")


def a_study_is_the_same_by_its_name_and_by_its_number():
    open_dashboard("#/studies/some/parameters")
    dashboard.settle(page)
    inside = brush()
    page.click(".tabs a", "Trials")
    page.wait_text("%d of 120 trials" % inside, "#main")
    page.run("history.back()")
    page.wait_text("Parallel coordinates", "#main")
    tap.equal(page.run("return location.hash.split('?')[0]"),
              study(numbers["some"], "parameters"))
    tap.equal(picked(page.text(".ranges")), (inside, 120))
    page.click(".ranges button", "All trials")
    open_dashboard("#/studies/some/trials/7")
    page.wait_text("Trial 7", "h1")
    tap.equal(page.run("return location.hash"),
              study(numbers["some"], "trials/7"))
    behaves(page, "a study by its name")


def the_keys_go_through_the_table_and_open_a_trial():
    show(page, study(numbers["many"], "trials"), "10000 trials")
    page.run("document.querySelector('table[role=grid]').focus()")
    active = ("document.querySelector('table[role=grid] tr.active')"
              "?.querySelector('a').textContent")
    page.press("ArrowDown")
    page.wait(active + " === '10000'", "the newest trial first")
    page.press("End")
    page.wait(active + " === '1'", "the last row")
    page.press("ArrowUp", "Space")
    page.wait("document.querySelector('tr.active input').checked", "its mark")
    page.press("Enter")
    page.wait("location.hash.endsWith('/trials/2')", "the trial's page")
    behaves(page, "keys")


def the_tab_key_reaches_everything_and_is_seen():
    open_dashboard(study(numbers["some"]))
    dashboard.settle(page)
    reached = []
    for _ in range(30):
        page.press("Tab")
        reached.append(page.run("""
            const one = document.activeElement, style = getComputedStyle(one);
            return [one.ariaLabel ?? one.textContent.trim(), style.outlineStyle !== "none" && style.outlineWidth !== "0px"]"""))
    names = [name for name, _ in reached]
    for wanted in ("Skip to the content", "Studies", "Copy best", "More",
                   "Parameters", "As table"):
        tap.contains(wanted, names, (wanted, names))
    tap.true(any(name.startswith("Optimisation history") for name in names),
             names)
    tap.equal([name for name, seen in reached if not seen], [], "unseen")


def the_first_link_skips_to_the_content():
    open_dashboard(study(numbers["some"]))
    dashboard.settle(page)
    page.press("Tab", "Enter")
    page.wait("document.activeElement.id === 'main'", "the content")
    page.press("Tab")
    tap.equal(page.run("return document.activeElement.closest('main')"
                       " !== null"), True)
    tap.equal(page.text("h1"), "some")


def a_filter_and_its_fault_are_shown():
    show(page, study(numbers["some"], "trials"), "120 trials")
    page.type("input", "state=failed", "Filter")
    page.wait_text("3 of 120 trials", "#main")
    page.type("input", "lr<much", "Filter")
    page.wait_text('"much" is no number to compare lr with', "#main")
    behaves(page, "the filter")


def a_plot_as_a_table_tells_the_same():
    show(page, study(numbers["some"]))
    page.click(".plot button", "As table")
    page.wait("document.querySelectorAll('.plot .as-text tbody tr').length"
              " >= 100", "the rows of the plot")
    looks = page.run("""
        const sides = row => [...document.querySelector(row).children].map(
          cell => [cell.innerText, getComputedStyle(cell).textAlign]);
        return [sides(".as-text thead tr"), sides(".as-text tbody tr")]""")
    tap.equal([[name for name, _ in looks[0]], *[
        [side for _, side in row] for row in looks]],
        [["Trial", "State", "accuracy", "Best so far"],
         *[["right", "left", "right", "left"]] * 2])
    behaves(page, "a plot as a table")


def the_checks_see_what_they_look_for():
    """What the other cases would miss silently, put into a page."""
    show(page, study(numbers["some"]))
    page.run("""
        const add = (tag, settings) => {
          const one = Object.assign(document.createElement(tag), settings);
          document.getElementById("main").append(one);
          return one;
        };
        add("button", {});
        add("p", {textContent: "faint"}).style.color = "rgb(190, 190, 190)";
        add("div", {textContent: "wide"}).style.width = "3000px";
        add("script", {textContent: "window.ran = true"});
        add("img", {src: "http://evil.test/x.png"});
        add("canvas", {}).closest("main").querySelector(".plot canvas").width = 0;
        console.error("a complaint");
        Promise.reject(new Error("a lost promise"));""")
    tap.equal(page.run(dashboard.NAMELESS)[0], "<button></button>")
    tap.contains("faint", page.run(dashboard.FAINT)[0])
    tap.contains("3000px", page.run(dashboard.WIDTH))
    tap.equal(page.run(dashboard.PENDING), ["Optimisation history"])
    tap.equal(page.run("return window.ran ?? null"), None)
    page.wait("seenByTest.length >= 2", "what breaks the policy")
    noted = "\n".join(page.complaints())
    for text in ("policy: script-src", "policy: img-src http://evil.test",
                 "a complaint", "a lost promise"):
        tap.contains(text, noted, (text, noted))


with harness.Server("--runner", "none", "--auth", "none") as server, \
        browser.Browser() as page:
    numbers = filling.fill(server, SIZES)
    numbers.update(filling.fill(server, {ALL_FAILED: 12},
                                lambda _: filling.FAILED))
    tap.run([
        every_page_at_every_size_shows_what_it_should,
        nothing_is_asked_of_others,
        no_page_is_wider_than_a_narrow_window,
        titles_of_plots_are_whole_in_the_window_of_a_telephone,
        values_have_room_beside_long_names_in_a_narrow_window,
        a_window_that_gets_narrower_keeps_plots_within,
        every_control_has_a_name,
        every_text_can_be_read_in_light_and_in_dark,
        the_reader_chooses_light_or_dark,
        moments_are_in_the_readers_time,
        a_study_whose_trials_all_failed_tells_so,
        what_is_not_there_is_said_to_be_missing,
        a_range_that_is_brushed_narrows_the_table,
        a_study_is_the_same_by_its_name_and_by_its_number,
        the_keys_go_through_the_table_and_open_a_trial,
        the_tab_key_reaches_everything_and_is_seen,
        the_first_link_skips_to_the_content,
        a_filter_and_its_fault_are_shown,
        a_plot_as_a_table_tells_the_same,
        the_checks_see_what_they_look_for,
    ])
