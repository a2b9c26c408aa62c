"""Doctests of docstrings as code: outside of a section `Examples` they are text to Markdown."""

import re

import griffe

DOCTEST = re.compile(r"^(?P<code>>>> .*(?:\n(?!\s*$).*)*)", re.MULTILINE)


class Doctests(griffe.Extension):
    """Puts fences around them."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Every object once it has been read."""
        if obj.docstring:
            obj.docstring.value = DOCTEST.sub("```pycon\n\\g<code>\n```", obj.docstring.value)
