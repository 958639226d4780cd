"""What the documents name is there: the files and headings of links, paths,
commands and their flags, and the specs pass the check."""

import functools
import os
import re
import shutil
import subprocess

import harness
import tap
import tree
from cli_home import Home

FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")
SPAN = re.compile(r"`([^`]+)`")
FOLDERS = "algorithms|bench|docs|examples|hypertune|proto|runner|tests|tuner"
PATH = re.compile(r"(?:%s)/[\w./-]*\w/?" % FOLDERS)
PROGRAMS = ("hypertune", "hypertuned", "hypertune-runner")
BEHIND = {"serve": "hypertuned", "runner": "hypertune-runner"}
FLAG = re.compile(r"(?<!\S)(--?[A-Za-z][\w-]*)")


@functools.lru_cache()
def documents():
    """{path from the root: text} of all documents, committed or not."""
    if not shutil.which("git"):
        tap.skip("the documents", "git is not installed")
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others",
         "--exclude-standard", "*.md"],
        cwd=tree.ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        encoding="utf-8")
    if listed.returncode != 0:
        tap.skip("the documents", "not a work tree of git")
    found = {}
    for name in sorted(set(listed.stdout.split())):
        path = os.path.join(tree.ROOT, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                found[name] = file.read()
    tap.contains("README.md", found, sorted(found))
    return found


def none(wrong):
    if wrong:
        raise AssertionError("\n" + "\n".join(wrong))


def anchors(text):
    """Of the headings, as GitHub and GitLab make them."""
    heads = re.findall(r"^#+ +(.*?) *#*$", FENCE.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")
            for head in heads}


def links_lead_somewhere():
    wrong = []
    texts = documents()
    for name, text in texts.items():
        for target in LINK.findall(SPAN.sub("", FENCE.sub("", text))):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            path = os.path.normpath(
                os.path.join(os.path.dirname(name), path)) if path else name
            if not os.path.exists(tree.path(path)):
                wrong.append("%s: no file %s" % (name, target))
            elif anchor and anchor not in anchors(texts.get(path, "")):
                wrong.append("%s: no heading %s" % (name, target))
    none(wrong)


def the_index_has_every_document():
    texts = documents()
    listed = set(LINK.findall(texts["docs/README.md"]))
    none(["docs/README.md lacks " + name for name in texts
          if re.fullmatch(r"docs/(?!README)[^/]+\.md", name) and
          os.path.basename(name) not in listed])


def paths_of_the_source_tree_exist():
    none(["%s: no %s" % (name, span)
          for name, text in documents().items()
          for span in SPAN.findall(FENCE.sub("", text))
          if PATH.fullmatch(span) and not any(
              os.path.exists(os.path.join(tree.ROOT, base, span))
              for base in ("", os.path.dirname(name)))])


# ---- commands ----

def lines_of(text):
    """Lines that are commands: of fences, indented ones, and code spans."""
    for _, kind, content in FENCE.findall(text):
        content = content.replace("\\\n", " ")
        prompt = r"^\s*\$ (.*)" if kind == "console" else r"^\s*(.*)"
        yield from re.findall(prompt, content, re.M)
    rest = FENCE.sub("", text).replace("\\\n", " ")
    yield from re.findall(r"^ {4}(?:\$ )?(\S.*)", rest, re.M)
    for span in SPAN.findall(re.sub(r"^ {4}.*", "", rest, flags=re.M)):
        yield re.sub(r"\s+", " ", span)


def calls_of(text):
    """(program, words) of every call of a program of ours; the words end
    where the shell, a comment or the trial's own command begins."""
    for line in lines_of(text):
        line = re.split(r"\s#", line)[0]
        for part in re.split(r"[|;&<>)\"]| -- |\$\(", line):
            words = part.split()
            while words and re.match(r"(\w+=.*|sudo|eval)$", words[0]):
                words = words[1:]
            if len(words) > 1 and words[0] in PROGRAMS:
                yield words[0], words[1:]


def help_of(*argv):
    """A program's help, None when it has none for that."""
    done = subprocess.run(
        [os.path.join(harness.bin_dir(), argv[0])] + list(argv[1:]),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    return done.stdout if done.returncode == 0 else None


class Manual:
    """Commands and flags as the programs list them."""

    def __init__(self):
        self.commands = set(re.findall(r"^  ([a-z-]+)  +\w",
                                       help_of("hypertune", "help"), re.M))
        tap.true({"submit", "best", "report"} <= self.commands, self.commands)
        self.known = {}

    def flags(self, *argv):
        if argv not in self.known:
            self.known[argv] = set(re.findall(r"(--?[a-zA-Z][\w-]*)",
                                              help_of(*argv)))
        return self.known[argv]

    def fault(self, program, words):
        """What is wrong with a call, None when nothing is."""
        if program != "hypertune":
            return self.strange(words, (program, "--help"))
        command = next((w for w in words if not w.startswith("-")), None)
        if command is None or not re.fullmatch(r"[a-z][a-z-]+", command):
            return None  # a placeholder such as COMMAND
        if command not in self.commands:
            return "no command %s" % command
        if command == "help":
            topic = words[-1]
            known = topic == "help" or not topic.islower() or \
                help_of("hypertune", "help", topic)
            return None if known else "no topic %s" % topic
        if command == "add":  # a parameter may be written as a flag
            words = [word for word in words if "=" not in word]
        manuals = [("hypertune", "help", command)]
        if command in BEHIND:
            manuals.append((BEHIND[command], "--help"))
        return self.strange(words, *manuals)

    def strange(self, words, *manuals):
        text = re.sub(r"'[^']*'|--sort \S+", "", " ".join(words))
        known = set().union(*(self.flags(*argv) for argv in manuals))
        unknown = [flag for flag in FLAG.findall(text) if flag not in known]
        return "no flag %s" % unknown[0] if unknown else None


def commands_and_flags_are_those_of_the_programs():
    manual = Manual()
    wrong, n = [], 0
    for name, text in documents().items():
        for program, words in calls_of(text):
            n += 1
            fault = manual.fault(program, words)
            if fault:
                wrong.append("%s: %s: %s %s" % (name, fault, program,
                                                " ".join(words)))
    none(wrong)
    tap.true(n > 100, "calls found: %d" % n)


# ---- messages ----

def said_by_the_programs():
    """All texts in their sources, with neighbouring ones joined."""
    texts = []
    for top in ("algorithms", "hypertune", "proto", "runner", "tuner"):
        for folder, _, names in os.walk(tree.path(top)):
            for name in names:
                if name.endswith((".c", ".py")):
                    with open(os.path.join(folder, name),
                              encoding="utf-8") as file:
                        texts.append(re.sub(r'"\s*"', "", file.read()))
    return "\n".join(texts).replace('\\"', '"')


def messages_of_troubleshooting_are_in_the_programs():
    text = documents()["docs/troubleshooting.md"]
    heads = re.findall(r"^\*\*(`.*`)\*\*$", text, re.M)
    tap.true(len(heads) > 15, heads)
    sources = said_by_the_programs()
    wrong = []
    for message in SPAN.findall("\n".join(heads)):
        for piece in re.split(r"\b(?:[A-Z]{3,}|NaN|\d+)\b", message):
            if piece.strip() not in sources:
                wrong.append("no source has %r of %r" % (piece, message))
    none(wrong)


# ---- specs ----

def specs_of(text):
    """The fences that are whole specs, not parts."""
    for _, kind, content in FENCE.findall(text):
        if kind == "yaml" and re.search(r"^goal:", content, re.M) and \
                re.search(r"^parameters:", content, re.M):
            yield content


def check_specs(specs):
    """A spec passes only where the program of its command is."""
    with Home() as home:
        for spec in specs:
            program = re.search(r"^command: \[?([^\s,\]]+)", spec, re.M)
            if program and not shutil.which(program.group(1)):
                raise tap.Skip(program.group(1) + " is not installed")
            home.write("spec.yaml", spec)
            code, out, err = home.run("check", "spec.yaml")
            tap.equal(code, 0, out + err)


def checks_of_specs():
    """A case for each document that has specs."""
    for name, text in documents().items():
        specs = list(specs_of(text))
        if specs:
            case = functools.partial(check_specs, specs)
            case.__name__ = "the specs of %s pass the check" % name
            yield case


def there_are_specs_to_check():
    tap.true(len(list(checks_of_specs())) > 3)


tap.run([links_lead_somewhere, the_index_has_every_document,
         paths_of_the_source_tree_exist,
         commands_and_flags_are_those_of_the_programs,
         messages_of_troubleshooting_are_in_the_programs,
         there_are_specs_to_check, *checks_of_specs()])
