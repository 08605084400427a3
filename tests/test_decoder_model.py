"""The shipped decoder: its files fit together, it is a plain Llama model, and it answers the page's own prompts."""

import csv
import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest

from tokenviz.decoder.tokenizer import load_tokenizer
from tokenviz.decoder.weights import WeightsError, load_weights

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "data" / "decoder"
CONFIG = json.loads((FOLDER / "config.json").read_text("utf-8"))
EXAMPLES = json.loads((FOLDER / "examples.json").read_text("utf-8"))["examples"]
RUN = json.loads((FOLDER / "run.json").read_text("utf-8"))
WEIGHTS = load_weights(FOLDER / "model.safetensors")
REFERENCE = np.load(ROOT / "tests" / "fixtures" / "decoder_logits.npz")


def test_every_tensor_has_the_name_and_shape_of_a_llama_model() -> None:
    width, inner, kv = 128, 352, 2 * 32
    layer = {
        "input_layernorm": (width,),
        "self_attn.q_proj": (width, width),
        "self_attn.k_proj": (kv, width),
        "self_attn.v_proj": (kv, width),
        "self_attn.o_proj": (width, width),
        "post_attention_layernorm": (width,),
        "mlp.gate_proj": (inner, width),
        "mlp.up_proj": (inner, width),
        "mlp.down_proj": (width, inner),
    }
    expected = {"model.embed_tokens.weight": (1024, width), "model.norm.weight": (width,)}
    expected |= {f"model.layers.{i}.{name}.weight": shape for i in range(4) for name, shape in layer.items()}
    assert {name: value.shape for name, value in WEIGHTS.items()} == expected
    # 1024·128 + 128 + 4 (2·128 + 2·128² + 2·64·128 + 3·352·128) = 131,072 + 128 + 4 · 184,576
    assert sum(value.size for value in WEIGHTS.values()) == 131_072 + 128 + 4 * 184_576 == 869_504


def test_the_config_declares_that_model() -> None:
    asked = {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 1024, "hidden_size": 128,
        "intermediate_size": 352, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 32, "max_position_embeddings": 128, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "hidden_act": "silu", "tie_word_embeddings": True, "torch_dtype": "float32", "bos_token_id": 0,
        "eos_token_id": 0,
    }  # fmt: skip
    assert {key: CONFIG.get(key) for key in asked} == asked


def test_every_weight_is_a_finite_number_and_no_array_can_be_changed() -> None:
    for name, value in WEIGHTS.items():
        assert np.isfinite(value).all(), name
        assert value.dtype == np.float32
        assert not value.flags.writeable


def test_the_files_stay_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 6_000_000


def test_the_card_states_the_run() -> None:
    card = (FOLDER / "model-card.md").read_text("utf-8")
    with (FOLDER / "loss.csv").open(encoding="utf-8") as file:
        last = list(csv.DictReader(file))[-1]
    for text in (
        "MIT",
        f"{int(last['step']):,} steps",
        f"{float(last['seconds']) / 60:.1f} minutes",
        f"{RUN['held_out_loss']:.3f} nats",
        f"{math.exp(RUN['held_out_loss']):.2f} (a uniform guess",
        RUN["sha256"],
    ):
        assert text in card


def test_the_five_examples_show_what_they_say() -> None:
    copied, pronoun, fact, flat, unknown = EXAMPLES
    texts = [[answer["text"] for answer in example["answers"]] for example in (copied, pronoun, fact, unknown)]
    assert texts == [[" Lucy"], [" He", " She"], [" Paris", " Rome"], [" Zumpo"]]
    assert copied["answers"][0]["probability"] > 0.9
    he, she = pronoun["answers"]
    assert he["probability"] > 0.9 > 0.05 > she["probability"]
    assert fact["answers"][0]["probability"] > 0.9
    assert sum(answer["probability"] for answer in flat["answers"]) < 0.5
    assert unknown["answers"][0]["probability"] > 0.5


def test_the_unknown_word_is_in_pieces_and_the_examples_fit_the_window() -> None:
    tokenizer = load_tokenizer(FOLDER / "tokenizer.json")
    assert len(tokenizer.encode(EXAMPLES[4]["answers"][0]["text"])) > 1
    assert max(1 + len(tokenizer.encode(e["prompt"] + e["greedy"])) for e in EXAMPLES) < 128


def test_the_reference_logits_belong_to_the_examples() -> None:
    tokenizer = load_tokenizer(FOLDER / "tokenizer.json")
    for i, example in enumerate(EXAMPLES):
        assert REFERENCE[f"ids_{i}"].tolist() == [0, *tokenizer.encode(example["prompt"])]
    assert [len(REFERENCE[f"ids_{i}"]) for i in (5, 6)] == [1, 128]
    assert {REFERENCE[f"logits_{i}"].shape for i in range(7)} == {(1024,)}


@pytest.mark.reference
def test_a_published_llama_implementation_gives_the_same_logits(capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch", reason="the extra 'reference' has it")
    transformers = pytest.importorskip("transformers", reason="the extra 'reference' has it")
    from tokenviz.decoder.train.model import load_decoder

    llama = transformers.LlamaForCausalLM.from_pretrained(FOLDER, dtype=torch.float32).eval()
    ours = load_decoder(FOLDER / "model.safetensors")
    worst = recorded = 0.0
    with torch.no_grad():
        for i in range(7):
            ids = torch.tensor(REFERENCE[f"ids_{i}"])[None]
            theirs, mine = llama(ids).logits[0], ours(ids)[0]
            worst = max(worst, float((theirs - mine).abs().max()))
            recorded = max(recorded, float(np.abs(theirs[-1].numpy() - REFERENCE[f"logits_{i}"]).max()))
    with capsys.disabled():
        print(f"\nlargest difference of logits: module {worst:.2e}, recorded {recorded:.2e}")
    assert worst <= 1e-4
    assert recorded <= 1e-4


@pytest.mark.reference
def test_the_examples_probabilities_come_out_again() -> None:
    pytest.importorskip("torch", reason="the extra 'reference' has it")
    pytest.importorskip("tokenizers", reason="the extra 'reference' has it")
    pytest.importorskip("safetensors", reason="the extra 'reference' has it")
    from tokenviz.decoder.train import measure
    from tokenviz.decoder.train.model import load_decoder

    decoder, tokenizer = load_decoder(FOLDER / "model.safetensors"), load_tokenizer(FOLDER / "tokenizer.json")
    for written, again in zip(EXAMPLES, measure.examples(decoder, tokenizer), strict=True):
        assert written["greedy"] == again["greedy"]
        for old, new in zip(written["answers"], again["answers"], strict=True):
            assert old["text"] == new["text"]
            # Five decimals are written down; float32 sums in another order move a probability by less than 1e-4.
            assert old["probability"] == pytest.approx(new["probability"], abs=1e-4)


def safetensors_bytes(header: object, body: bytes) -> bytes:
    """A safetensors file of this header and body."""
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


GOOD = {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "__metadata__": {"format": "pt"}}
BODY = np.array([1.5, -2.0], "<f4").tobytes()


def test_a_weights_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(safetensors_bytes(GOOD, BODY))
    assert {name: value.tolist() for name, value in load_weights(path).items()} == {"a": [1.5, -2.0]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"", "header says 8 bytes, the file has 0", id="empty"),
        pytest.param(struct.pack("<Q", 1 << 60), "the file has 8", id="length beyond the file"),
        pytest.param(safetensors_bytes(GOOD, BODY[:4]), "a of shape", id="cut short"),
        pytest.param(safetensors_bytes({"a": GOOD["a"] | {"dtype": "BF16"}}, BODY), "a is BF16", id="type"),
        pytest.param(safetensors_bytes({"a": GOOD["a"] | {"shape": [3]}}, BODY), r"shape \(3,\)", id="shape"),
        pytest.param(safetensors_bytes({"a": GOOD["a"] | {"data_offsets": [-8, 0]}}, BODY), "-8:0", id="offset"),
        pytest.param(safetensors_bytes({"a": {}}, BODY), "data_offsets", id="no offsets"),
        pytest.param(safetensors_bytes([1], BODY), "not a float32 safetensors", id="a list"),
        pytest.param(struct.pack("<Q", 3) + b"{{{", "not a float32 safetensors", id="not JSON"),
    ],
)
def test_a_bad_weights_file_is_an_error_that_says_what_is_wrong(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(data)
    with pytest.raises(WeightsError, match=message) as caught:
        load_weights(path)
    assert str(path) in str(caught.value)


def test_a_missing_weights_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"gone\.safetensors: cannot be read"):
        load_weights(tmp_path / "gone.safetensors")
