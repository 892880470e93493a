"""The twenty questions of the self-test: two for each chapter, from 0 to 9."""

from __future__ import annotations

from minicodex.lab.predict import Choice, Prediction

__all__ = ["QUESTIONS"]


def _asked(question: str, *choices: tuple[str, str], right: str) -> Prediction:
    made = [Choice(claim, why, right=letter == right) for letter, (claim, why) in zip("abc", choices, strict=True)]
    return Prediction(question, tuple(made))


QUESTIONS: tuple[tuple[int, Prediction], ...] = (
    (
        0,
        _asked(
            "The model has “called” `update_plan`. What did it produce?",
            ("A run of the function, on the provider's side.", "The function never leaves your side."),
            ("Typed arguments for the function.", "They look typed. They are a string until a handler decodes it."),
            ("An item with a name, an id and a text.", "That is all. What happens next is up to your code."),
            right="c",
        ),
    ),
    (
        0,
        _asked(
            "How does the model come to know what a call gave?",
            (
                "The next request repeats the history, with the call and its output at the end.",
                "Between two requests the model remembers nothing. Call and output are tied by `call_id`.",
            ),
            ("The provider hands it over while the model waits.", "The answer has ended. Nobody waits."),
            ("It reads the return value of the function.", "It has never seen the function."),
            right="a",
        ),
    ),
    (
        1,
        _asked(
            "A contract says `strict: true`. What may its handler leave out?",
            (
                "Types and required fields; the business rules stay.",
                "Nothing on the wire says that a promise is kept.",
            ),
            ("Nothing.", "`strict` asks the provider for something. The handler finds out whether it got it."),
            ("Everything: the provider has checked.", "No provider knows your business rules."),
            right="b",
        ),
    ),
    (
        1,
        _asked(
            "A tool has an output schema. Where does the model read it?",
            (
                "Nowhere. Only in code mode does it become a type of the declared function.",
                "It is part of the contract on your side, and in no function tool's JSON.",
            ),
            ("In `parameters`, behind the input.", "`parameters` describe the arguments and nothing else."),
            (
                "In the format of the answer.",
                "That is structured output: the shape of the model's last word, not of a tool's result.",
            ),
            right="a",
        ),
    ),
    (
        2,
        _asked(
            "Contracts in one registry, handlers in another. An argument is renamed on the handlers' side only. "
            "Whose calls fail most surely?",
            ("Those of a careless model.", "It guesses, and some guesses meet the new name."),
            ("All models fail alike.", "Only a model that follows the contract fails every time."),
            ("Those of a model that follows its contract.", "It writes exactly what no longer works."),
            right="c",
        ),
    ),
    (
        2,
        _asked(
            "Two sources offer a tool of the very same name. What does the planner do?",
            (
                "It gives both a hash.",
                "That is for two *different* names of one server that become equal when they are rewritten.",
            ),
            (
                "The first one that may exist owns the name in both tables; the other ends as a decision.",
                "So the contract that is shown and the handler that runs come from one tool.",
            ),
            ("The last one replaces the first.", "So a dictionary would do, and a guest's code would run."),
            right="b",
        ),
    ),
    (
        3,
        _asked(
            "A tool is deferred. Nobody has searched for it, and the model calls it all the same. What happens?",
            ("It is refused: search first.", "The dispatch table has the tool, and nothing else is asked."),
            ("It runs.", "Deferred decides what is seen at first, not what can run. Hiding is no lock."),
            ("The planner loads it and asks the model to repeat the call.", "The planner is done long before a call."),
            right="b",
        ),
    ),
    (
        3,
        _asked(
            "A server has the tool `get_user`. Now it adds `get.user`. What is the old tool called in the next step?",
            ("`get_user`; only the new one is renamed.", "The innocent one is renamed, too."),
            ("`get_user`; the new one is rejected.", "Both can be offered, under names that differ."),
            ("`get_user_` and a hash.", "Both become `get_user` when rewritten, so each of them gets a hash."),
            right="c",
        ),
    ),
    (
        4,
        _asked(
            "A tool is upgraded while a call of it waits. Each step has its own plan. Who reads the arguments?",
            ("The newest version.", "It would read a text that was written for another contract."),
            ("The version whose contract the model saw.", "The call carries its step, and the step has its plan."),
            ("Nobody: the call is refused.", "The model did everything right."),
            right="b",
        ),
    ),
    (
        4,
        _asked(
            "This time the MCP *server* is upgraded while a call waits. What does the snapshot still promise?",
            (
                "That the old handler passes the old arguments on; what the server makes of them is its own affair.",
                "A snapshot freezes our side. It cannot freeze another process.",
            ),
            ("That the server's old code runs.", "That code is gone, or it is not; we cannot know."),
            ("That the call is aborted.", "Nothing tells us that it should be."),
            right="a",
        ),
    ),
    (
        5,
        _asked(
            'An author writes `{"enum": [1, 2, 3]}` without a type. What does the model read?',
            ("Integers, since the values are integers.", "No rule looks at the values."),
            ("Nothing: such a node is refused.", "It is lawful, and compiled."),
            ("A string whose allowed values are numbers.", "`enum` suggests `string`. No call fits any more."),
            right="c",
        ),
    ),
    (
        5,
        _asked(
            "The author's `maximum: 10` is not in the compiled schema. The model sends 11. What happens?",
            (
                "It runs: what is sent is what counts.",
                "What is sent informs the model; it does not judge the call.",
            ),
            ("The handler refuses it by the author's schema.", "The loss made the contract wider, not the tool."),
            ("The provider refuses it.", "It has never seen the limit."),
            right="b",
        ),
    ),
    (
        6,
        _asked(
            "A schema is over the budget. What is thrown away first?",
            ("Every description, in all of the schema.", "The first pass takes them all. Units belong into names."),
            ("What stands at its end.", "Nothing is cut at the end; each pass looks for one kind of thing."),
            ("Its largest property.", "No pass compares properties."),
            right="a",
        ),
    ),
    (
        6,
        _asked(
            "All four passes have run, and the schema is still too large. What now?",
            ("It is sent as it is.", "The budget is no wall. It decides which passes run, and nothing else."),
            ("The tool is left out.", "That is what happens to schemas that do not fit the subset, not to large ones."),
            ("The rest is cut off.", "Half a schema would be no schema."),
            right="a",
        ),
    ),
    (
        7,
        _asked(
            "You capture a request. It has no key `tools`, and yet it has tools. Where are they?",
            ("In the request before this one.", "Each request says everything again."),
            (
                "In the first item of `input`.",
                "Responses Lite carries the tools there, in an item `additional_tools` with the role developer.",
            ),
            ("In the headers.", "A header says which mode it is. It holds no tools."),
            right="b",
        ),
    ),
    (
        7,
        _asked(
            "Responses Lite: a tool changes between two steps. What becomes of the first item of `input`?",
            (
                "It stays, byte for byte. What changed is appended far behind it.",
                "What the model has read is not rewritten; so the provider can reuse what it has cached.",
            ),
            ("It holds the new contracts.", "So it is only where the history was compacted or resumed."),
            ("It is left out, as the model knows it.", "The model knows only what is in the request."),
            right="a",
        ),
    ),
    (
        8,
        _asked(
            'The arguments are `{"duration": 45, "duration": 4500}`. What does a strict reader do?',
            (
                "It takes the last value, as Python does.",
                "Another reader takes the first: what is logged and what is run differ.",
            ),
            ("It takes the first value.", "Python takes the last: what is logged and what is run differ."),
            ("It refuses them, and names the place.", "Two readers must never disagree about what was asked."),
            right="c",
        ),
    ),
    (
        8,
        _asked(
            "One answer holds three calls. The arguments of the second one are wrong. What does the model get?",
            ("One error; nothing was run.", "One bad call stops nobody."),
            ("Three outputs, in call order; the second one says what to mend.", "The other two have done their work."),
            ("The first output, then an error.", "The third call is no worse for the second."),
            right="b",
        ),
    ),
    (
        9,
        _asked(
            "A contract of the plan holds `NaN`, which JSON cannot say. What of this request has been sent?",
            (
                "Nothing.",
                "Encoding comes first. The error names tool and place, and no connection is opened.",
            ),
            ("The request, with `null` in its place.", "Silently changed contracts are what encoding must prevent."),
            ("The request, without that tool.", "A tool that cannot be *built* is left out; this one was built."),
            right="a",
        ),
    ),
    (
        9,
        _asked(
            "A handler has accepted the arguments and then raises `ZeroDivisionError`. Who is to mend what?",
            ("The model: it should send other arguments.", "They were accepted. It cannot know what went wrong."),
            ("The runtime: the turn must end.", "Its own bugs end a turn. A stranger's code does not."),
            ("The tool's author: the code.", "The model is told that it failed while running, and the turn goes on."),
            right="c",
        ),
    ),
)
"""(number of the chapter, question)"""
