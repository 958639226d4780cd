"""The files of a trial on the dashboard: the outputs of the best one in three
clicks, texts and images in place, hostile ones as text, ten thousand of them."""

import io
import os
import struct
import tarfile
import zlib

import browser
import dashboard
import harness
import stored
import tap
from dashboard import behaves
from fake_runner import Runner


def png(width, height):
    """A real image, of one colour."""
    def part(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    rows = (b"\0" + b"\x30\x80\xc0" * width) * height
    return (b"\x89PNG\r\n\x1a\n" +
            part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0,
                                      0)) +
            part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b""))


HOSTILE = (b"<script>document.title='owned'</script> <!-- a line that is "
           b"wider than a phone -->\xe2\x80\xaetxet\n")
FILES = {"notes.txt": b"first line\n" + b"0123456789\n" * 10000,
         "plot.png": png(40, 30), "broken.png": b"no image",
         "page.html": HOSTILE, "empty.log": b"",
         "weights.bin": b"\0\xff",
         "a \"name\" <img src=x onerror=alert(1)>.csv": b"a,b\n1,2\n"}
WRITES = """
import os, sys
for name, data in %r.items():
    with open(os.path.join(os.environ["AIP_MODEL_DIR"], name), "wb") as file:
        file.write(data * (1300000 if name == "weights.bin" else 1))
print("score=" + sys.argv[1])
""" % FILES
FILES["weights.bin"] *= 1300000
SPEC = {"spec": 1, "name": "writes", "goal": "maximize score", "trials": 2,
        "parameters": {"x": [1, 2]}, "algorithm": "grid",
        "command": ["python3", "-c", WRITES, "${x}"],
        "metrics": {"stdout": "score={score}"}}
MANY = {"spec": 1, "name": "many", "goal": "maximize accuracy", "trials": 1,
        "parameters": {"x": [1]}, "algorithm": "grid", "retries": 0,
        "args": "none", "command": ["true"], "metricDoctor": "warn"}
CARD = "section[aria-label=Files]"

server = page = None


def saved(name):
    """Bytes of a file that the browser has saved, once all has come."""
    path = os.path.join(page.folder, "saved", name)
    harness.wait_until(lambda: os.path.exists(path), name)
    with open(path, "rb") as file:
        return file.read()


def row(name, what):
    """An element of the row of a file, for scripts."""
    return ("[...document.querySelectorAll('.files li')].find(one => "
            "one.firstChild.textContent.endsWith(%r)).querySelector(%r)" % (
                name, what))


def open_file(name):
    page.run(row(name, "button") + ".click()")


def the_model_of_the_best_trial_is_three_clicks_away():
    page.open(server.http + "/#/studies")
    page.wait_text("writes", "#main tbody")
    page.click("#main tbody a", "writes")
    page.wait_text("trial 2", ".figure.hero")
    page.click(".figure.hero a", "trial 2")
    page.wait_text("Download the outputs", CARD)
    page.click(CARD + " button", "Download the outputs (.tar)")
    with tarfile.open(fileobj=io.BytesIO(
            saved("writes-2-outputs.tar"))) as files:
        top = "writes-2-outputs/model/"
        tap.equal({one.name: files.extractfile(one).read()
                   for one in files.getmembers()},
                  {top + name: data for name, data in FILES.items()})
    page.wait_text("Outputs of attempt 1", CARD)
    tap.contains("7 files", page.text(CARD))
    behaves(page, "the download")


def a_text_is_shown_in_place_and_cut():
    open_file("notes.txt")
    page.wait_text("The first 64 KiB of 110 KB", CARD)
    tap.equal(len(page.text(CARD + " pre")) in (65536, 65535), True)
    tap.contains("first line\n0123456789\n", page.text(CARD + " pre"))
    open_file("notes.txt")
    tap.equal(page.run("return %s.hidden" % row("notes.txt", ".content")),
              True)
    open_file("empty.log")
    page.wait_text("The file is empty.", CARD)
    page.run(row("notes.txt", "button") + ".focus()")
    page.press("Enter")
    tap.equal(page.run("return %s.hidden" % row("notes.txt", ".content")),
              False)
    page.press("Enter")
    behaves(page, "a text")


def an_image_is_shown_in_place():
    open_file("plot.png")
    page.wait(row("plot.png", "img") + ".naturalWidth === 40")
    open_file("broken.png")
    page.wait_text("cannot show this image", CARD)
    behaves(page, "an image")


def hostile_files_are_text():
    open_file("page.html")
    page.wait_text("<script>", CARD)
    tap.contains("⟨U+202E⟩", page.text(CARD))
    open_file("onerror=alert(1)>.csv")
    page.wait_text("a,b", CARD)
    tap.equal(page.run("return document.querySelectorAll("
                       "'.files script, .files img[src=x]').length"), 0)
    tap.lacks("owned", page.run("return document.title"))
    behaves(page, "hostile files")


def a_file_is_saved_byte_for_byte():
    page.run(row("weights.bin", "a") + ".click()")
    tap.equal(saved("weights.bin") == FILES["weights.bin"], True)
    page.run(row("page.html", "a") + ".click()")
    tap.equal(saved("page.html"), HOSTILE)
    page.run("const link = %s; link.removeAttribute('download');"
             "link.click()" % row("plot.png", "a"))
    tap.equal(saved("plot.png"), FILES["plot.png"])
    behaves(page, "what was saved")


def it_can_be_read_on_every_screen():
    for dark in (False, True):
        page.dark(dark)
        for width in (1400, 800, 390):
            page.resize(width, 900)
            page.wait("(() => {%s})() === ''" % dashboard.WIDTH,
                      "%d px without a scroll" % width)
            tap.equal(page.run(dashboard.FAINT), [], width)
    page.dark(False)
    page.resize(1400, 1000)
    tap.equal(page.run(dashboard.NAMELESS), [])


def show_many(which):
    which.submit(dict(MANY))
    files = {"part/%05d.txt" % i: b"%d" % (i % 7) for i in range(10500)}
    with Runner(which, name="played") as runner:
        attempt = runner.one().started()
        tree = stored.sha(stored.keep(which, {"one": b"1"}))
        for step, name in ((1, tree), (40, stored.sha(
                stored.keep(which, files)))):
            runner.tell("checkpoint", tree=name, step=step, **attempt.name)
        page.open(which.http + "/#/studies/many/trials/1")
        page.wait_text("Checkpoint at step 40", CARD)
        tap.contains("Checkpoint at step 1", page.text(CARD))
        page.wait_text("200 of 10000 files that are loaded", CARD)
        page.click(CARD + " button", "Load more files")
        page.wait_text("200 of 10500 files", CARD)
        page.click(CARD + " button", "Show 1000 more")
        page.wait_text("1200 of 10500 files", CARD)
        page.type(CARD + " input[type=search]", "10499")
        page.wait("document.querySelectorAll('.files li').length === 1")
        open_file("10499.txt")
        page.wait_text("6", CARD + " pre")
        attempt.report(0.5).ended("succeeded", exit=0)
    behaves(page, "many files")


def ten_thousand_files_do_not_freeze_the_page():
    with harness.Server("--auth", "none", "--runner", "none") as other:
        show_many(other)


def main():
    global server, page
    with harness.Server("--auth", "none", slots=1) as server, \
            browser.Browser() as page:
        page.cdp("Browser.setDownloadBehavior", behavior="allow",
                 downloadPath=os.path.join(page.folder, "saved"))
        server.submit(dict(SPEC))
        tap.equal(server.wait_study("writes")["state"], "SUCCEEDED")
        tap.run([the_model_of_the_best_trial_is_three_clicks_away,
                 a_text_is_shown_in_place_and_cut,
                 an_image_is_shown_in_place,
                 hostile_files_are_text,
                 a_file_is_saved_byte_for_byte,
                 it_can_be_read_on_every_screen,
                 ten_thousand_files_do_not_freeze_the_page])


if __name__ == "__main__":
    main()
