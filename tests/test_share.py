"""A config in a link: the same model comes out, in a bounded length, and hostile links are refused early."""

import json
import tracemalloc
import zlib
from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenviz.catalog import bundled_models, config_text, load_model, model_from_text
from tokenviz.notation import TokenvizError
from tokenviz.share import MAX_LINK_CHARS, MAX_TEXT_BYTES, ShareError, pack, unpack

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def deflated(data: bytes) -> str:
    return urlsafe_b64encode(zlib.compress(data, 9)).decode().rstrip("=")


@given(st.dictionaries(st.text(), json_values, max_size=6))
def test_what_goes_in_comes_out(config):
    packed = pack(json.dumps(config, indent=2))
    assert json.loads(unpack(packed)) == config
    assert packed.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize("name", bundled_models())
def test_every_published_config_fits_into_a_link(name):
    packed = pack(config_text(name))
    assert len(packed) <= 2_000  # the longest of them has 1,776
    assert json.loads(unpack(packed)) == json.loads(config_text(name))


def test_the_linked_model_is_the_pasted_one():
    linked = model_from_text(unpack(pack(config_text("gpt-oss-20b"))), "x")
    assert linked.architecture == load_model("gpt-oss-20b").architecture


def test_a_config_that_does_not_compress_is_too_long_for_a_link():
    # hexadecimal digits carry 4 bits each: 20,000 of them are 10,000 bytes, 13,336 letters of 6 bits and more
    digits = "".join(f"{(i * i * 2654435761) % 2**32:08x}" for i in range(2_500))
    with pytest.raises(ShareError, match=rf"characters and a link carries at most {MAX_LINK_CHARS:,}; send the file"):
        pack(json.dumps({"model_type": digits}))


def test_a_config_with_too_much_text_is_not_packed_however_well_it_compresses():
    with pytest.raises(ShareError, match=f"a link carries at most {MAX_TEXT_BYTES:,}"):
        pack(json.dumps({"model_type": "a" * MAX_TEXT_BYTES}))


def test_a_link_that_swells_is_refused_without_being_inflated():
    bomb = zlib.compress(b" " * 4_000_000, 9)  # deflate shrinks blanks about a thousandfold
    packed = urlsafe_b64encode(bomb).decode().rstrip("=")
    assert len(packed) < MAX_LINK_CHARS
    tracemalloc.start()
    with pytest.raises(ShareError, match=f"swells beyond {MAX_TEXT_BYTES:,} bytes"):
        unpack(packed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * MAX_TEXT_BYTES


def test_the_longest_text_that_may_be_packed_is_unpacked():
    text = '{"a":"' + "b" * (MAX_TEXT_BYTES - 8) + '"}'
    assert len(text) == MAX_TEXT_BYTES
    assert unpack(pack(text)) == text


@pytest.mark.parametrize(
    "packed",
    ["x", "%%%", "é", "<img src=x onerror=alert(1)>", deflated(b"{}")[:-4], deflated(b"\xff\xfe"), "A" * 100],
)
def test_a_damaged_link_is_named(packed):
    with pytest.raises(ShareError, match="damaged or cut off"):
        unpack(packed)


def test_a_link_that_is_too_long_is_not_read():
    with pytest.raises(ShareError, match=f"{MAX_LINK_CHARS + 1:,} characters"):
        unpack("A" * (MAX_LINK_CHARS + 1))


@given(st.text(max_size=200) | st.binary(max_size=200).map(deflated))
def test_any_address_gives_text_or_a_sentence(packed):
    try:
        text = unpack(packed)
    except TokenvizError as error:
        text = str(error)
    assert isinstance(text, str)
