"""The reference implementation is loaded without the grammar that makes it slow, and nobody else feels it."""

import subprocess
import sys

import pytest

LOADS = [
    "from minicodex.schema import judge; assert judge({'type': 'integer'}, 'x') == 'reject'",
    "from minicodex.validation import ArgumentValidator; ArgumentValidator({}, dict).check({})",
]


@pytest.mark.parametrize("load", LOADS)
def test_judging_does_not_load_the_grammar(load):
    loaded = "[name for name in ('jsonschema', 'rfc3987_syntax', 'lark') if name in sys.modules]"
    code = f"{load}\nimport sys; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "['jsonschema']\n"


def test_the_grammar_can_still_be_loaded_by_others():
    pytest.importorskip("rfc3987_syntax")
    code = f"{LOADS[0]}\nimport rfc3987_syntax"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
