#!/usr/bin/env python3
"""The rooms of the house, from the table .ci/rooms.

rooms.py check    each #include of the sources against the table
rooms.py list     every room and module with the first sentence of its file
rooms.py draw     the rooms and their arrows as SVG, the same on any machine
rooms.py write    puts both into docs/
"""

import collections
import os
import re
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


class Room:
    def __init__(self, name, folder, includes, owns):
        self.name = name          # "tuner/db", or "tuner" of a folder
        self.folder = folder
        self.includes = includes  # names as here
        self.owns = owns


def read_table():
    """The rooms and folders by name, in the table's order."""
    rooms = collections.OrderedDict()
    folder = None
    with open(os.path.join(HERE, "rooms"), encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            if line.startswith("#") or not line.strip():
                continue
            name, includes, owns = (part.strip() for part in
                                    line.split(":", 2))
            inside = line.startswith(" ")
            folder = folder if inside else name
            prefix = folder + "/" if inside else ""
            room = Room(prefix + name, folder,
                        [prefix + other for other in includes.split()], owns)
            for other in room.includes:
                if other not in rooms:
                    sys.exit(".ci/rooms:%d: %s is not above %s"
                             % (number, other, room.name))
            rooms[room.name] = room
    return rooms


def sources(rooms):
    """Paths of the C files below the folders, in a fixed order."""
    found = []
    for folder in (name for name in rooms if "/" not in name):
        for where, _, names in os.walk(os.path.join(ROOT, folder)):
            found += [os.path.relpath(os.path.join(where, name), ROOT)
                      for name in names if name.endswith((".c", ".h"))]
    return sorted(found)


# ---- check ----

def is_allowed(rooms, source, target):
    """Whether a file in room `source` may include one in room `target`."""
    if source == target:
        return True
    folder, other = rooms[source].folder, rooms[target].folder
    if folder != other:
        return other in rooms[folder].includes
    # The top of a folder knows all of it; of hypertune's top all know the
    # library's public header.
    return target in rooms[source].includes or source == folder or \
        target == "hypertune"


def check(rooms):
    bad = 0
    for path in sources(rooms):
        source = os.path.dirname(path)
        if source not in rooms:
            print("%s: .ci/rooms has no such room" % path)
            bad += 1
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                match = re.match(r'#include "([^"]+)"', line)
                target = os.path.dirname(match[1]) if match else source
                if target not in rooms or \
                        not is_allowed(rooms, source, target):
                    print("%s:%d: %s may not include %s"
                          % (path, number, source, target))
                    bad += 1
    return bad


# ---- list ----

def first_sentence(path):
    """Of the comment that opens the file, without the file's name."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as text:
        comment = re.match(r"/\*(.*?)\*/", text.read(), re.S)
    paragraph = re.split(r"\n \*\n", comment[1])[0] if comment else ""
    words = " ".join(line.strip(" *") for line in paragraph.splitlines())
    name = os.path.basename(path) + " - "
    if not words.startswith(name):
        sys.exit("%s: does not begin with /* %s..., what it has" % (path, name))
    # Up to a full stop that is not in `quotes`.
    sentence = re.match(r"(?:`[^`]*`|[^.`]|\.(?! |$))*", words[len(name):])[0]
    return sentence.rstrip(": ")


def modules(rooms):
    """One file of each module: its header, or its source without one."""
    found = {}
    for path in sources(rooms):  # .c comes before .h
        found[os.path.splitext(path)[0]] = path
    return found.items()


def listed(rooms):
    """The lines of the list."""
    for name, room in rooms.items():
        yield ""
        yield "%s%s/ - %s" % ("  " if "/" in name else "", name, room.owns)
        for module, path in modules(rooms):
            if os.path.dirname(path) == name:
                yield from textwrap.wrap(
                    "%-19s%s" % (os.path.basename(module),
                                 first_sentence(path)),
                    width=100, initial_indent=" " * 4,
                    subsequent_indent=" " * 23, break_long_words=False,
                    break_on_hyphens=False)


def show(rooms):
    print("\n".join(listed(rooms)).lstrip())


# ---- draw ----

COLUMNS = [["hypertune", "proto"], ["tuner"], ["runner", "algorithms"]]
WIDE, HIGH, GAP, BOX = 400, 38, 8, 268  # of a column, a room, between, a box
TOP, BETWEEN = 34, 30                   # of a panel's title, between panels


def reduced(room, rooms):
    """The includes that no other include of the room implies."""
    def below(name):
        direct = rooms[name].includes
        return set(direct).union(*(below(other) for other in direct))
    return [name for name in room.includes
            if not any(name in below(other) for other in room.includes)]


def draw_room(room, x, y):
    label = room.name.split("/", 1)[1]
    yield ('<rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="#fff" '
           'stroke="#7a8794"/>' % (x, y, BOX, HIGH))
    yield ('<text x="%d" y="%d" font-weight="bold" font-size="13">%s</text>'
           % (x + 8, y + 16, label))
    yield ('<text x="%d" y="%d" font-size="11" fill="#4a5560">%s</text>'
           % (x + 8, y + 31, room.owns))


def draw_arrow(x, begin, end):
    """From a room to one below it, bent the more the farther it goes."""
    bend = min(20 + (end - begin) // 4, WIDE - BOX - 20)
    return ('<path d="M%d %d C%d %d %d %d %d %d" fill="none" '
            'stroke="#2f6f9f" stroke-opacity="0.65" marker-end="url(#tip)"/>'
            % (x, begin, x + bend, begin, x + bend, end, x + 4, end))


def draw_panel(folder, rooms, x, y):
    """Its lines of SVG and its lower end; the ground floor is the lowest."""
    own = [room for room in rooms.values()
           if room.folder == folder.name and room is not folder]
    needs = ", ".join(folder.includes)
    lines = ['<text x="%d" y="%d" font-size="16" font-weight="bold">%s/'
             '</text>' % (x, y + 14, folder.name),
             '<text x="%d" y="%d" font-size="11" fill="#4a5560">%s%s</text>'
             % (x, y + 28, folder.owns,
                "; includes " + needs if needs else "")]
    place = {}
    for index, room in enumerate(reversed(own)):
        place[room.name] = y + TOP + index * (HIGH + GAP)
        lines += draw_room(room, x, place[room.name])
    for room in own:
        for other in reduced(room, rooms):
            lines.append(draw_arrow(x + BOX, place[room.name] + HIGH * 2 // 3,
                                    place[other] + HIGH // 3))
    return lines, y + TOP + len(own) * (HIGH + GAP)


def drawn(rooms):
    """The text of the picture."""
    lines = []
    height = 0
    for column, folders in enumerate(COLUMNS):
        y = 10
        for name in folders:
            panel, y = draw_panel(rooms[name], rooms, 16 + column * WIDE, y)
            lines += panel
            y += BETWEEN
        height = max(height, y)
    width = 16 + WIDE * len(COLUMNS)
    return "\n".join([
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
        'width="%d" height="%d" font-family="sans-serif">'
        % (width, height, width, height),
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" '
        'markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#2f6f9f"/></marker></defs>',
        '<rect width="100%" height="100%" fill="#f7f8fa"/>',
        *lines, "</svg>", ""])


def draw(rooms):
    print(drawn(rooms), end="")


# ---- the documents ----

BEGIN, END = "<!-- rooms: made by `make rooms-docs` -->\n", "<!-- end -->"


def with_list(document, rooms):
    """The text of docs/architecture.md with the list as it is now."""
    before, rest = document.split(BEGIN)
    after = rest.split(END, 1)[1]
    return "%s%s```text\n%s\n```\n%s%s" % (
        before, BEGIN, "\n".join(listed(rooms)).lstrip(), END, after)


def documents(rooms):
    """What the files below docs/ are to hold, by path."""
    path = os.path.join(ROOT, "docs", "architecture.md")
    with open(path, encoding="utf-8") as text:
        architecture = with_list(text.read(), rooms)
    return {path: architecture,
            os.path.join(ROOT, "docs", "images", "rooms.svg"): drawn(rooms)}


def write(rooms):
    for path, content in documents(rooms).items():
        with open(path, "w", encoding="utf-8") as out:
            out.write(content)


def main():
    commands = {"check": check, "list": show, "draw": draw, "write": write}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    return 1 if commands[sys.argv[1]](read_table()) else 0


if __name__ == "__main__":
    sys.exit(main())
