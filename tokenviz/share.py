"""A config.json inside a link: packed small enough for an address, unpacked without trust.

    pack(text) -> str           the config without white space, deflated, in letters that an address may hold
    unpack(packed) -> str       its text again; `ShareError` says what is wrong with the link

Both directions are bounded: a link is short, and what a short link may swell to is bounded too, so that an address made
to exhaust memory is refused after the first bytes too many.
"""

import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as BadBase64

from tokenviz.notation import TokenvizError

MAX_LINK_CHARS = 6_000
"""Longest packed config. Addresses up to about 8,000 characters pass common servers, proxies and chats."""
MAX_TEXT_BYTES = 200_000
"""Longest config text that a link may swell to."""


class ShareError(TokenvizError):
    """A config that does not fit into a link, or a link that holds no config."""


def pack(text: str) -> str:
    """The config in `text` for an address: JSON without white space, deflated, base64url without padding.

    Raises:
        ShareError: when the text or the packed form is too long; says by how much.
        ValueError: when the text is not JSON.
    """
    small = json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    if len(small) > MAX_TEXT_BYTES:
        raise ShareError(
            f"the config has {len(small):,} bytes and a link carries at most {MAX_TEXT_BYTES:,}; send the file instead"
        )
    packed = urlsafe_b64encode(zlib.compress(small, 9)).decode("ascii").rstrip("=")
    if len(packed) > MAX_LINK_CHARS:
        raise ShareError(
            f"the compressed config has {len(packed):,} characters and a link carries at most {MAX_LINK_CHARS:,}; "
            "send the file instead"
        )
    return packed


def unpack(packed: str) -> str:
    """The text of a config that `pack` made; `ShareError` when the link is cut, altered or made to swell."""
    if len(packed) > MAX_LINK_CHARS:
        raise ShareError(
            f"config in the link has {len(packed):,} characters; at most {MAX_LINK_CHARS:,} are read, paste the text"
        )
    try:
        data = urlsafe_b64decode(packed.encode("ascii") + b"=" * (-len(packed) % 4))
        inflate = zlib.decompressobj()
        small = inflate.decompress(data, MAX_TEXT_BYTES)
    except (BadBase64, UnicodeEncodeError, ValueError, zlib.error):
        raise _cut() from None
    if inflate.unconsumed_tail:
        raise ShareError(f"config in the link swells beyond {MAX_TEXT_BYTES:,} bytes; it is not read, paste the text")
    if not inflate.eof:
        raise _cut()
    try:
        return small.decode("utf-8")
    except UnicodeDecodeError:
        raise _cut() from None


def _cut() -> ShareError:
    return ShareError("config in the link is damaged or cut off; copy the whole link again, or paste the config's text")
