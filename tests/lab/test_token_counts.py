"""The counts of the tokenizer: what the chapter says of them, and that they are still what one counts."""

import subprocess
import sys
from pathlib import Path

import pytest

from minicodex.lab.token_counts import EVERYDAY, MIN_BYTES, PLANE, Corpus, bytes_against_tokens, token_counts
from minicodex.schema import BUDGET_BYTES

ROOT = Path(__file__).parents[2]


def test_some_hundred_schemas_were_counted():
    assert {name: len(corpus.rows) >= 300 for name, corpus in token_counts().items()} == {
        EVERYDAY: True,
        "create_event": False,
        "odd schemas": True,
    }


def test_budget_is_somewhat_more_than_a_thousand_tokens_of_everyday_tools():
    fewest, middle, most = token_counts()[EVERYDAY].tokens_in(BUDGET_BYTES)
    assert 1_000 < fewest < middle < most < 1_300


def test_odd_schemas_are_far_from_the_rule():
    fewest, _, most = token_counts()["odd schemas"].tokens_in(BUDGET_BYTES)
    assert fewest < 700
    assert most > 4_500


def test_small_schemas_do_not_count_for_the_ratio():
    corpus = Corpus("c", [(MIN_BYTES - 1, 1), (MIN_BYTES, 100), (400, 100)])
    assert corpus.bytes_per_token == [3.0, 4.0]
    assert corpus.tokens_in(1_200) == (300, 343, 400)


def test_figure_says_in_words_what_it_draws():
    figure = bytes_against_tokens()
    assert figure.svg == bytes_against_tokens().svg
    assert all(corpus.words in figure.text() for corpus in token_counts().values())


def test_figure_has_a_mark_for_every_point_that_it_holds_and_one_for_each_kind():
    svg = bytes_against_tokens().svg
    held = [sum(PLANE.holds(*row) for row in corpus.rows) for corpus in token_counts().values()]
    assert [svg.count("<circle"), svg.count('width="8"'), svg.count("l8 8m0-8l-8 8")] == [count + 1 for count in held]


@pytest.mark.parametrize(
    ("point", "place"), [((0, 0), (70, 344)), ((8_000, 5_500), (840, 18)), ((4_000, 0), (455, 344))]
)
def test_points_are_drawn_to_scale(point, place):
    assert PLANE.at(*point) == place


@pytest.mark.long
def test_counts_are_what_one_counts():
    command = [sys.executable, "-m", "tests.bench.tokens", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (0, "the data are what one counts\n")
