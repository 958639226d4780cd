"""library_there - tests that need a Python library of Debian's."""

import importlib.util
import warnings

import tap


def run(main, *packages):
    """Calls main() where the Debian packages are there, quietened; else one
    skipped case."""
    for package in packages:
        if importlib.util.find_spec(package.replace("python3-", "")) is None:
            tap.skip("our part of " + package, package + " is not installed")
    warnings.simplefilter("ignore")  # of the libraries among themselves
    main()
