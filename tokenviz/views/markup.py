"""Text from outside, shown as it is."""

import re


def plain(text: str) -> str:
    """Markdown that shows exactly `text`: no formatting, no links, no images, no HTML."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>$~:&@=/])", r"\\\1", text.replace("\n", " "))
