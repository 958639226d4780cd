"""The hook that offers our Python package in a container, under the
interpreters of this machine: ours is found where there is none, and nothing
that is installed notices."""

import os
import shutil
import subprocess
import tempfile

import tap
import tree
import test_reporter

WHERE = "import hypertune, sys; sys.stdout.write(hypertune.__file__)"


class Image:
    """A kit, a program's folder and installed packages, of one interpreter."""

    def __init__(self, python, folder):
        self.python = python
        self.home = folder
        self.kit = os.path.join(folder, "kit")
        self.site = os.path.join(folder, "site")
        self.late = os.path.join(folder, "late")
        for name in ("site", "late"):
            os.mkdir(os.path.join(folder, name))
        shutil.copytree(os.path.join(tree.PACKAGE, "hypertune"),
                        os.path.join(self.kit, "python", "hypertune"),
                        ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(os.path.join(tree.PACKAGE, "hook"),
                        os.path.join(self.kit, "hook"))

    def write(self, path, text):
        path = os.path.join(self.site, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, program, options=(), first="hook"):
        """The standard output of a program, standard error behind it."""
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(
            [os.path.join(self.kit, first), self.site]))
        done = subprocess.run(
            [self.python, *options, "-c", program], cwd=self.home, env=env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        return done.stdout + done.stderr

    def expect_ours(self, path):
        assert path.startswith(self.kit), path

    def expect_installed(self, path):
        assert path.startswith(self.site), path


def install(image):
    """A package of the name of ours, as cloudml-hypertune is one."""
    image.write("hypertune/__init__.py", "from .hypertune import HyperTune\n")
    image.write("hypertune/hypertune.py", "class HyperTune(object): pass\n")


def ours_is_found_where_there_is_none(image):
    image.expect_ours(image.run(WHERE))
    said = image.run("import hypertune.reporter as r; "
                     "from hypertune import report; print(r.report is report)")
    tap.equal(said.strip(), "True")


def an_installed_one_is_never_shadowed(image):
    install(image)
    image.expect_installed(image.run(WHERE))
    tap.equal(image.run("import hypertune, sys; "
                        "print(hasattr(hypertune, 'report'))").strip(), "False")


def one_that_another_finder_brings_later_is_not_shadowed_either(image):
    install(image)
    os.rename(os.path.join(image.site, "hypertune"),
              os.path.join(image.late, "hypertune"))
    image.expect_ours(image.run(WHERE))
    if image.major == 2:
        return  # finders come before the path there
    said = image.run(
        "import sys\n"
        "from importlib.machinery import PathFinder\n"
        "class Late:\n"
        "    @staticmethod\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        return PathFinder.find_spec(name, [%r])\n"
        "sys.meta_path.append(Late)\n" % image.late + WHERE)
    assert said.startswith(image.late), said


def a_folder_added_to_the_path_later_goes_first(image):
    install(image)
    os.rename(os.path.join(image.site, "hypertune"),
              os.path.join(image.late, "hypertune"))
    said = image.run("import sys; sys.path.append(%r)\n" % image.late + WHERE)
    assert said.startswith(image.late), said


def ours_goes_first_when_the_job_says_so(image):
    install(image)
    image.expect_ours(image.run(WHERE, first="python"))


def the_images_own_sitecustomize_still_runs(image):
    image.write("sitecustomize.py", "import sys; sys.marked = __file__\n")
    said = image.run("import sys, sitecustomize; "
                     "print(sys.marked == sitecustomize.__file__)\n" + WHERE)
    first, _, path = said.partition("\n")
    tap.equal(first, "True")
    image.expect_ours(path)


def its_failure_is_printed_as_ever_and_our_hook_still_runs(image):
    image.write("sitecustomize.py", "raise RuntimeError('on purpose')\n")
    said = image.run(WHERE)
    assert "on purpose" in said or "sitecustomize' failed" in said, said
    image.expect_ours(said.splitlines()[0])


def nothing_else_of_the_program_changes(image):
    said = image.run("import sys; print([p for p in sys.path if 'kit' in p])\n"
                     "try:\n    import no_such_module\n"
                     "except ImportError as error:\n    print(error)")
    lines = said.splitlines()
    tap.equal(lines[0], "[]")
    assert "no_such_module" in lines[1], said


def children_find_it_too(image):
    image.expect_ours(image.run(
        "import subprocess, sys; "
        "subprocess.call([sys.executable, '-c', %r])" % WHERE))


def isolated_programs_are_left_alone(image):
    said = image.run(WHERE, options=("-E",))
    assert "Error" in said and image.kit not in said, said


CASES = [
    ours_is_found_where_there_is_none,
    an_installed_one_is_never_shadowed,
    one_that_another_finder_brings_later_is_not_shadowed_either,
    a_folder_added_to_the_path_later_goes_first,
    ours_goes_first_when_the_job_says_so,
    the_images_own_sitecustomize_still_runs,
    its_failure_is_printed_as_ever_and_our_hook_still_runs,
    nothing_else_of_the_program_changes,
    children_find_it_too,
    isolated_programs_are_left_alone,
]


def bind(case, version, python):
    def bound():
        with tempfile.TemporaryDirectory() as folder:
            image = Image(python, os.path.realpath(folder))
            image.major = version[0]
            case(image)
    bound.__name__ = "python %d.%d: %s" % (version + (case.__name__,))
    return bound


def main():
    interpreters = test_reporter.choose_interpreters()
    tap.run([bind(case, version, python)
             for version, python in sorted(interpreters.items())
             for case in CASES])


main()
