"""Chapter 5 in the browser: every control of every widget, in both themes."""

import json
from statistics import median

from minicodex.samples import CREATE_EVENT_SCHEMA

CHAPTER = "05_foreign_schemas"
STEPPER = "stepper"


def test_graph_grows_from_the_root(chapter):
    times = []
    for step in (1, 2, 3):
        times.append(chapter.measure("graph", lambda: chapter.click("graph", "grow")))
        chapter.wait_for("graph", f"step {step} of ")
    chapter.screenshot("graph", "grown")
    chapter.click("graph", "back")
    chapter.wait_for("graph", "step 2 of ")
    times.append(chapter.measure("graph", lambda: chapter.move_slider("graph", "steps", 1)))
    chapter.move_slider("graph", "steps", 9)
    chapter.wait_for("graph", "left out: Invoice, Payment")
    chapter.screenshot("graph", "done")
    times.append(chapter.measure("graph", lambda: chapter.pick("graph", "schema", "create_event")))
    chapter.move_slider("graph", "steps", 9)
    chapter.wait_for("graph", "left out: Webhook")
    chapter.screenshot("graph", "create-event")
    chapter.check_accessibility()
    print(f"definition graph, control to view: median {median(times):.0f} ms of {[round(time) for time in times]}")


def test_stepper_goes_through_the_stages_and_proves_losses(chapter):
    times = []
    times.append(chapter.measure(STEPPER, lambda: chapter.click(STEPPER, "next")))
    chapter.wait_for(STEPPER, "▶ 1 normalize_supported_keywords")
    chapter.screenshot(STEPPER, "normalised")
    for place in ("/properties/tags", "/properties/priority"):
        times.append(chapter.measure(STEPPER, lambda place=place: chapter.pick(STEPPER, "prove the loss at", place)))
        chapter.wait_for(STEPPER, "The author's schema allows it, the compiled one refuses it.")
    chapter.screenshot(STEPPER, "proof")
    times += [chapter.measure(STEPPER, lambda: chapter.move_slider(STEPPER, "stage", 1)) for _ in range(2)]
    chapter.wait_for(STEPPER, "▶ 3 remove_schema_descriptions")
    chapter.screenshot(STEPPER, "compacted")
    times.append(chapter.measure(STEPPER, lambda: chapter.click(STEPPER, "back")))
    chapter.wait_for(STEPPER, "▶ 2 retain_reachable_definitions")
    times.append(chapter.measure(STEPPER, lambda: chapter.pick(STEPPER, "schema", "five small traps")))
    chapter.wait_for(STEPPER, "▶ 0 as it came")
    chapter.check_accessibility()
    print(f"compiler stepper, control to view: median {median(times):.0f} ms of {[round(time) for time in times]}")


def test_own_schema_is_compiled_or_refused_in_place(chapter):
    def compile_it(text):
        chapter.type(STEPPER, "your schema", text)
        return chapter.measure(STEPPER, lambda: chapter.click(STEPPER, "compile it"))

    compile_it('{"properties": {"size": {"enum": [1, 2]}, "colour": {"items": [3]}}}')
    chapter.wait_for(STEPPER, "✗ refused")
    chapter.wait_for(STEPPER, "/properties/colour/items: expected one schema for all members, found a list")
    chapter.screenshot(STEPPER, "refused")
    compile_it('{"properties": {"size": ')
    chapter.wait_for(STEPPER, "line 1 column 25")
    chapter.screenshot(STEPPER, "no-json")
    compile_it('{"properties": {"<b>size</b>": {"enum": [1, 2]}}}')
    chapter.wait_for(STEPPER, "<b>size</b>")
    count = 200_000 // len(json.dumps(CREATE_EVENT_SCHEMA)) + 1
    large = json.dumps({"properties": dict.fromkeys([f"event {n}" for n in range(count)], CREATE_EVENT_SCHEMA)})
    assert len(large) > 200_000
    time = compile_it(large)
    chapter.wait_for(STEPPER, "Drawn as a tree it would have")
    steps = [chapter.measure(STEPPER, lambda: chapter.click(STEPPER, "next")) for _ in range(3)]
    chapter.screenshot(STEPPER, "large")
    print(f"a schema of {len(large):,} characters: compiled in {time:.0f} ms, a step in {median(steps):.0f} ms")
    chapter.pick(STEPPER, "schema", "a tangle")
    chapter.wait_for(STEPPER, "Order")
    chapter.check_accessibility()
