"""Text to tokens and back: equal to the ``tokenizers`` library, any text round-trips, every piece is safe to show."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenviz.decoder.corpus import documents
from tokenviz.decoder.tokenizer import END, END_ID, TokenizerError, byte_letters, load_tokenizer, visible

ROOT = Path(__file__).parent.parent
FILE = ROOT / "data" / "decoder" / "tokenizer.json"
FIXTURE = json.loads((ROOT / "tests" / "fixtures" / "decoder_tokens.json").read_text("utf-8"))
TOKENIZER = load_tokenizer(FILE)

any_text = st.text(st.characters(codec="utf-8"))


def test_the_vocabulary_is_the_end_token_256_bytes_and_767_joins() -> None:
    assert TOKENIZER.size == 1024 == 1 + 256 + len(TOKENIZER.ranks)
    assert {bytes([byte]) for byte in range(256)} <= set(TOKENIZER.ids)
    assert len(set(TOKENIZER.tokens)) == 1024


@pytest.mark.parametrize("case", FIXTURE, ids=lambda case: ascii(case["text"][:20]))
def test_tokens_are_the_ones_recorded_from_the_library(case: dict[str, object]) -> None:
    assert TOKENIZER.encode(str(case["text"])) == case["ids"]


@pytest.mark.reference
def test_tokens_equal_the_library_on_every_line_of_a_corpus_sample_and_on_odd_texts() -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the library is in the extra 'reference'")
    library = tokenizers.Tokenizer.from_file(str(FILE))
    lines = [*documents(4_000, seed=11), *(str(case["text"]) for case in FIXTURE)]
    assert [TOKENIZER.encode(line) for line in lines] == [encoding.ids for encoding in library.encode_batch(lines)]


@pytest.mark.reference
@given(text=st.one_of(any_text, st.text("abcdefghijklmnopqrstuvwxyz THE.,'\"\n", max_size=60)))
def test_tokens_equal_the_library_on_any_text(text: str) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the library is in the extra 'reference'")
    # Without its list of added tokens the library treats '<|end|>' as the plain text that it is when a person types it.
    model = tokenizers.Tokenizer.from_str(json.dumps(json.loads(FILE.read_text("utf-8")) | {"added_tokens": []}))
    assert TOKENIZER.encode(text) == model.encode(text).ids


@given(text=any_text)
def test_any_text_comes_back(text: str) -> None:
    ids = TOKENIZER.encode(text)
    assert TOKENIZER.decode(ids) == text
    assert all(0 < i < 1024 for i in ids)


@given(ids=st.lists(st.integers(0, 1023)))
def test_any_tokens_have_a_text_and_safe_pieces(ids: list[int]) -> None:
    TOKENIZER.decode(ids).encode("utf-8")
    for piece in TOKENIZER.pieces(ids):
        assert piece
        assert piece.isprintable()


def test_typed_end_token_is_text() -> None:
    ids = TOKENIZER.encode(END)
    assert END_ID not in ids
    assert TOKENIZER.decode(ids) == END


def test_the_end_token_shows_but_has_no_text() -> None:
    assert TOKENIZER.pieces([END_ID]) == (END,)
    assert TOKENIZER.decode([END_ID, *TOKENIZER.encode("Hello"), END_ID]) == "Hello"


def test_common_words_are_one_token() -> None:
    words = [" the", " computer", " because", " friend", " school", " robot", " favourite", " capital", " Lucy"]
    assert [TOKENIZER.pieces(TOKENIZER.encode(word)) for word in words] == [(word,) for word in words]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", ()),
        ("ä", ("<0xC3>", "<0xA4>")),
        ("€", ("<0xE2>", "<0x82>", "<0xAC>")),
        ("😀", ("<0xF0>", "<0x9F>", "<0x98>", "<0x80>")),
        ("\n\t\r", ("\\n", "\\t", "\\r")),
        ("\x00\x1b", ("<U+0000>", "<U+001B>")),
        ("<b>", ("<", "b", ">")),
    ],
)
def test_pieces(text: str, pieces: tuple[str, ...]) -> None:
    assert TOKENIZER.pieces(TOKENIZER.encode(text)) == pieces


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b" the", " the"),
        (b"a\xc3", "a<0xC3>"),
        (b"\n\xff", "<0x0A><0xFF>"),
        ("é".encode(), "é"),
        ("\u202e".encode(), "<U+202E>"),
        ("\u2028".encode(), "<U+2028>"),
        ("\u00ad".encode(), "<U+00AD>"),
    ],
)
def test_bytes_are_shown_safely(data: bytes, shown: str) -> None:
    assert visible(data) == shown


def test_a_cut_character_decodes_to_the_replacement_sign() -> None:
    assert TOKENIZER.decode(TOKENIZER.encode("ä")[:1]) == "\ufffd"


def test_half_a_surrogate_pair_does_not_stop_the_program() -> None:
    assert set(TOKENIZER.decode(TOKENIZER.encode("a\ud800"))) == {"a", "\ufffd"}


def test_every_byte_has_a_letter_of_its_own() -> None:
    letters = byte_letters()
    assert len(set(letters)) == 256
    assert (letters[ord("a")], letters[ord(" ")], letters[0]) == ("a", "Ġ", "Ā")


@pytest.mark.parametrize("token_id", [-1, 1024])
def test_a_token_that_does_not_exist_is_an_error(token_id: int) -> None:
    with pytest.raises(TokenizerError, match=rf"token {token_id} does not exist; the vocabulary has 0 to 1023"):
        TOKENIZER.decode([token_id])


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"model": {"vocab": {"a": 5}, "merges": []}}', '{"model": 3}'])
def test_a_bad_file_is_an_error_that_names_it(content: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content, "utf-8")
    with pytest.raises(TokenizerError, match=r"tokenizer\.json: not a byte-level BPE"):
        load_tokenizer(path)


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"gone\.json: cannot be read"):
        load_tokenizer(tmp_path / "gone.json")
