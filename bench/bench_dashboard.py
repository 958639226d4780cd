"""How quickly the dashboard shows ten thousand trials in a real browser, beside
an empty page of the same server in the same browser: one key=value a line.

first_paint: from the load to a study that is drawn; redraw: one of its tabs
after another one, and what of it the page's own thread worked (cpu), which a
busy machine does not lengthen; scroll: the longest pause between two frames
while the table is scrolled from its top to its end. Medians of five."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import browser  # noqa: E402
import dashboard  # noqa: E402
import filling  # noqa: E402
import harness  # noqa: E402

TRIALS, TIMES = 10000, 5

# Calls back with the ms since `from` in which the page was done: two frames
# after all its plots have been drawn.
DONE = """
    const [from, done] = [arguments[0] ?? performance.now(), arguments[arguments.length - 1]];
    const look = () => {
      const left = (() => {%s})();
      if (left.length === 0 && %s) requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - from)));
      else setTimeout(look, 4);
    };
    if (arguments[1]) location.hash = arguments[1];
    look();"""

SCROLL = """
    const done = arguments[0], box = document.querySelector(".scroll.long");
    const step = box.scrollHeight / 60;
    let last = performance.now(), longest = 0, n = 0;
    const frame = now => {
      longest = Math.max(longest, now - last);
      last = now;
      box.scrollTop = ++n * step;
      if (n < 60) requestAnimationFrame(frame);
      else done(longest);
    };
    box.scrollTop = 0;
    requestAnimationFrame(now => { last = now; requestAnimationFrame(frame); });"""


def median(numbers):
    return sorted(numbers)[len(numbers) // 2]


def show(key, value, digits=0):
    print("%s=%.*f" % (key, digits, value), flush=True)


def done(ready):
    return DONE % (dashboard.PENDING, ready)


def first_paint(page, url, ready):
    """ms since the navigation began."""
    took = []
    for _ in range(TIMES):
        page.open(url)
        took.append(page.run_later(done(ready), 0, None))
    return median(took)


def worked(page):
    """ms that the page's thread has worked so far."""
    metrics = page.cdp("Performance.getMetrics")["metrics"]
    return 1000 * next(one["value"] for one in metrics
                       if one["name"] == "TaskDuration")


def redraw(page, number, tab, ready):
    """ms from a tab without plots to `tab`: (as one waits, as it works)."""
    took, work = [], []
    for _ in range(TIMES):
        dashboard.show(page, dashboard.study(number, "config"))
        before = worked(page)
        took.append(page.run_later(done(ready), None,
                                   dashboard.study(number, tab)))
        work.append(worked(page) - before)
    return median(took), median(work)


def measure(server, page):
    study = filling.fill(server, {"many": TRIALS})["many"]
    address = server.http + "/" + dashboard.study(study)
    figures = "document.querySelector('.figures') !== null"
    empty = first_paint(page, server.http + "/#/none", "true")
    paint = first_paint(page, address, figures)
    show("dashboard_empty_page_ms", empty)
    show("dashboard_first_paint_ms", paint)
    show("dashboard_first_paint_ratio", paint / empty, 1)
    page.cdp("Performance.enable", timeDomain="threadTicks")
    for tab in ("overview", "parameters", "trials", "timeline"):
        ready = ("document.querySelector('.tabs [aria-current]')?.textContent"
                 ".toLowerCase() === '%s'" % tab)
        took, work = redraw(page, study, tab, ready)
        show("dashboard_redraw_%s_ms" % tab, took)
        show("dashboard_redraw_%s_cpu_ms" % tab, work)
    dashboard.show(page, dashboard.study(study, "trials"))
    show("dashboard_scroll_longest_frame_ms",
         median([page.run_later(SCROLL) for _ in range(TIMES)]))


def main():
    if browser.programs() is None:
        print("dashboard: not measured, needs chromium and chromedriver")
        return
    with harness.Server("--runner", "none", "--auth", "none") as server, \
            browser.Browser() as page:
        measure(server, page)


main()
