"""HTML: whatever is shown is escaped."""

from minicodex.lab.html import Html, Pill, prose, tag


def test_text_is_escaped_and_html_is_not():
    assert tag("p", "<script>alert(1)</script> & ", Html("<b>x</b>")) == (
        "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; <b>x</b></p>"
    )


def test_attribute_cannot_be_left():
    assert tag("p", title='"><script>') == '<p title="&quot;&gt;&lt;script&gt;"></p>'


def test_attribute_names_and_absent_attributes():
    made = tag("li", "x", class_="a", aria_current="step", hidden=True, title=None, open=False)
    assert made == '<li class="a" aria-current="step" hidden>x</li>'


def test_backticks_are_code_and_their_content_is_escaped():
    made = prose("send `<b>` now")
    assert "&lt;b&gt;</code>" in made
    assert "<b>" not in made


def test_pill_has_sign_word_and_colours_of_its_own():
    made = Pill("+", "new", ground="#fff", ink="#000").html()
    assert ">+ new</span>" in made
    assert "background: #fff; color: #000" in made
