"""The harness itself, tried on a tiny notebook: each control is driven, and each check can fail."""

import pytest

themes = pytest.mark.parametrize("theme", ["light", "dark"])


@themes
def test_every_control_changes_the_view(open_chapter, theme):
    chapter = open_chapter("tiny", theme)
    assert chapter.text("square").startswith("VBox("), "before it is run, a widget is shown as text"
    chapter.run()
    chapter.wait_for("square", "3 squared is 9, light")

    milliseconds = chapter.measure("square", lambda: chapter.move_slider("square", "number", steps=1))
    chapter.wait_for("square", "4 squared is 16, light")
    print(f"slider to view: {milliseconds:.0f} ms")
    assert milliseconds > 0
    chapter.move_slider("square", "number", steps=-2)
    chapter.wait_for("square", "2 squared is 4")
    chapter.choose("square", "weight", "heavy")
    chapter.wait_for("square", "2 squared is 4, heavy")
    chapter.pick("square", "kind", "loud")
    chapter.wait_for("square", "2 SQUARED IS 4, HEAVY")
    chapter.move_slider("square", "number", steps=5)
    chapter.wait_for("square", "7 SQUARED IS 49")
    chapter.click("square", "reset")
    chapter.wait_for("square", "2 SQUARED IS 4")

    assert chapter.page.locator("body").get_attribute("data-jp-theme-light") == str(theme == "light").lower()
    assert chapter.screenshot("square").stat().st_size > 1000
    chapter.check_accessibility()


def test_request_to_another_machine_is_noticed(lab):
    lab.check()
    lab.page.evaluate("() => fetch('http://192.0.2.1/', {signal: AbortSignal.timeout(1)}).catch(() => {})")
    with pytest.raises(AssertionError, match=r"192\.0\.2\.1"):
        lab.check()
    lab.requests.remove("http://192.0.2.1/")


def test_failing_script_is_noticed(lab):
    with lab.page.expect_event("pageerror"):
        lab.page.evaluate("() => { setTimeout(() => { throw new Error('on purpose') }) }")
    with pytest.raises(AssertionError, match="on purpose"):
        lab.check()
    lab.page_errors.clear()


def test_inaccessible_output_is_noticed(open_chapter):
    chapter = open_chapter("tiny")
    chapter.run()
    chapter.check_accessibility()
    chapter.output("square").last.evaluate("node => { node.innerHTML += '<img src=\"data:,\">' }")
    with pytest.raises(AssertionError, match="image-alt"):
        chapter.check_accessibility()
