"""HTML as text: everything that is shown is escaped, every colour comes from the reader's theme.

Styles stand on the elements themselves, never in a style sheet, so two copies of a widget cannot touch each other. The
colours are JupyterLab's own variables, with a fallback for pages that have none. A mark (new, gone, changed …) has a
fixed pair of a light ground and dark ink instead: it reads the same on a white page and on a black one.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

__all__ = [
    "ACCENT",
    "FAINT",
    "GROUND",
    "INK",
    "LINE",
    "MONO",
    "SOFT",
    "Html",
    "Pill",
    "heading",
    "joined",
    "panel",
    "prose",
    "tag",
]

INK = "var(--jp-content-font-color1, #1f2328)"
FAINT = "var(--jp-content-font-color2, #59636e)"
LINE = "var(--jp-border-color1, #bdbdbd)"
GROUND = "var(--jp-layout-color1, #ffffff)"
SOFT = "var(--jp-layout-color2, #eeeeee)"
ACCENT = "var(--jp-brand-color1, #1976d2)"
MONO = "font-family: var(--jp-code-font-family, monospace); font-size: var(--jp-code-font-size, 13px)"


class Html(str):
    """A text that is HTML already. Any other text is escaped before it is shown."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str | bool | None) -> Html:
    """One element. Children that are not `Html` are escaped.

    An attribute's `_` stands for `-`, one at its end is dropped (`class_`); None and False leave it out, True gives
    the bare name.
    """
    opening = name
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        written = key.rstrip("_").replace("_", "-")
        opening += f" {written}" if value is True else f' {written}="{escape(str(value))}"'
    return Html(f"<{opening}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    """Children side by side, each escaped unless it is `Html`."""
    return Html("".join(child if isinstance(child, Html) else escape(child, quote=False) for child in children))


def prose(text: str) -> Html:
    """A sentence in which `backticks` mean code, as in Markdown."""
    parts = text.split("`")
    style = f"background: {SOFT}; border-radius: 3px; padding: 0 .25em; {MONO}"
    return joined(*(tag("code", part, style=style) if index % 2 else part for index, part in enumerate(parts)))


@dataclass(frozen=True)
class Pill:
    """A mark: a sign and a word on a solid ground. Colour is the third signal, never the only one."""

    sign: str
    word: str
    ground: str
    ink: str

    @property
    def style(self) -> str:
        return f"background: {self.ground}; color: {self.ink}; border-radius: 3px; padding: 0 .35em"

    def html(self, text: str | None = None, *, small: bool = False) -> Html:
        """The sign with its word, or with a text of your own."""
        size = "; font-size: 85%" if small else ""
        return tag("span", f"{self.sign} {text or self.word}", style=self.style + size)


def heading(text: str, note: str = "") -> Html:
    """The title of a panel, with a fainter note behind it."""
    small = tag("span", note, style=f"font-weight: normal; color: {FAINT}; margin-left: .6em") if note else ""
    return tag("div", text, small, style="font-weight: 600; margin: 0 0 .35em")


def panel(*children: str, label: str, style: str = "") -> Html:
    """A box on solid ground. `label` is what a screen reader calls it."""
    box = f"background: {GROUND}; color: {INK}; border: 1px solid {LINE}; border-radius: 6px; padding: .7em .9em"
    shape = "box-sizing: border-box; line-height: 1.5; overflow-wrap: break-word; overflow-x: auto"
    return tag("section", *children, aria_label=label, style=f"{box}; {shape}; {style}".rstrip("; "))
