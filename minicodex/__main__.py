"""The door: one file for `python3 minicodex lab`, `python -m minicodex lab` and `minicodex lab`.

Why so plain: every Python must be able to read this file, or an old one answers with a syntax error
instead of a sentence. So nothing here is newer than Python 2.7, and the rest stands in `bootstrap.py`.
"""

import os
import runpy
import sys

PACKAGE = os.path.dirname(os.path.abspath(__file__))

if not __package__:
    # `python3 minicodex` puts the package's own folder first on the path, where `import errors` would find
    # minicodex/errors.py. The folder around it belongs there.
    sys.path[0] = os.path.dirname(PACKAGE)


def main(argv=None):
    """Run one command and return its exit code: 0 good, 1 judged bad, 2 could not run."""
    if sys.version_info < (3, 11):
        sys.stderr.write("minicodex: needs Python 3.11 or newer; this is Python %d.%d.\n" % sys.version_info[:2])
        return 2
    # By path, not as minicodex.bootstrap: the package cannot be imported before bootstrap has installed
    # what it needs.
    bootstrap = runpy.run_path(os.path.join(PACKAGE, "bootstrap.py"))
    return bootstrap["main"](sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    sys.exit(main())
