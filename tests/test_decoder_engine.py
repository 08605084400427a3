"""The shipped decoder run as a traced graph: same logits as the reference, cached as at once, two sessions apart."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tokenviz.catalog import data_dir
from tokenviz.decoder.generate import Session, advance, begin
from tokenviz.decoder.map import prediction_map
from tokenviz.decoder.model import DecoderError, load_decoder, published_name
from tokenviz.decoder.sampling import Sampling
from tokenviz.decoder.weights import load_weights
from tokenviz.execute import execute, initial_state

FOLDER = data_dir() / "decoder"
DECODER = load_decoder()
REFERENCE = np.load(Path(__file__).parent / "fixtures" / "decoder_logits.npz")
GREEDY = Sampling(temperature=0)


def prefill(ids: list[int]) -> np.ndarray:
    step = DECODER.step(len(ids))
    return execute(step, None, initial_state(step.step), ids).logits


@pytest.mark.parametrize("case", range(7))
def test_all_at_once_gives_the_recorded_logits(case: int) -> None:
    ids = REFERENCE[f"ids_{case}"].tolist()
    np.testing.assert_allclose(prefill(ids)[-1], REFERENCE[f"logits_{case}"], atol=1e-4)


@pytest.mark.parametrize("case", range(7))
def test_one_by_one_with_the_cache_gives_the_recorded_logits(case: int) -> None:
    step, ids = DECODER.step(1), REFERENCE[f"ids_{case}"].tolist()
    state = initial_state(step.step)
    for token in ids:
        result = execute(step, None, state, token)
        state = result.state
    np.testing.assert_allclose(result.logits[-1], REFERENCE[f"logits_{case}"], atol=1e-4)


def test_every_trained_number_is_used_once() -> None:
    tensors = load_weights(FOLDER / "model.safetensors")
    assert {published_name(name) for name in DECODER.weights} == set(tensors)
    assert DECODER.parameters == sum(array.size for array in tensors.values()) == 869_504
    assert all(np.shares_memory(array, tensors[published_name(n)]) is False for n, array in DECODER.weights.items())
    for name, array in DECODER.weights.items():
        np.testing.assert_array_equal(array.ravel(), tensors[published_name(name)].ravel())


def test_queries_share_keys_as_published() -> None:
    # 4 query heads of 32 in 2 groups: rows 0-63 of q_proj belong to key/value head 0
    q = DECODER.weights["layers.0.mixer.q.weight"]
    assert q.shape == (2, 2, 32, 128)
    assert DECODER.weights["layers.0.mixer.k.weight"].shape == (2, 32, 128)


def test_two_sessions_share_nothing() -> None:
    first, second = begin(DECODER, "Tom opened the door."), begin(DECODER, "My name is")
    alone: list[Session] = [first]
    for _ in range(4):
        alone.append(advance(DECODER, alone[-1], GREEDY).session)
    mixed = first
    for _ in range(4):
        mixed = advance(DECODER, mixed, GREEDY).session
        second = advance(DECODER, second, GREEDY).session
    assert mixed.ids == alone[-1].ids
    assert second.ids != mixed.ids
    assert len(alone[1].ids) == len(first.ids) + 1  # the earlier session is as it was
    np.testing.assert_array_equal(
        advance(DECODER, alone[1], GREEDY).result.logits, advance(DECODER, alone[1], GREEDY).result.logits
    )


def test_the_bound_lengths_are_bounded() -> None:
    from tokenviz.decoder.model import _bound

    for n in range(2, 20):
        DECODER.step(n)
    assert _bound.cache_info().currsize <= (_bound.cache_info().maxsize or 0) == 12


def test_the_mask_is_drawn_in_every_cached_step() -> None:
    made = advance(DECODER, advance(DECODER, begin(DECODER, "Tom"), GREEDY).session, GREEDY)
    assert made.positions == 1
    assert len(prediction_map(DECODER.architecture).of_kind("mask")) == 4
    assert np.isfinite(made.result.value(1, "mask.causal_mask")).all()


def copy(folder: Path) -> Path:
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        shutil.copy(FOLDER / name, folder / name)
    return folder


@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named_in_one_sentence(tmp_path: Path, name: str) -> None:
    (copy(tmp_path) / name).unlink()
    with pytest.raises(DecoderError, match=rf"{name}: cannot be read"):
        load_decoder(tmp_path)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    whole = (copy(tmp_path) / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[:1_000_000])
    with pytest.raises(DecoderError, match=r"model\.safetensors: not a float32 safetensors file"):
        load_decoder(tmp_path)


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    config = json.loads((copy(tmp_path) / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "intermediate_size": 300}))
    with pytest.raises(
        DecoderError, match=r"gate_proj.weight' has shape \[352, 128\]; the config asks for \[300, 128\]"
    ):
        load_decoder(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({**config, "vocab_size": 1000}))
    with pytest.raises(DecoderError, match="tokenizer has 1024 tokens, the config says 1000"):
        load_decoder(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 5}))
    with pytest.raises(DecoderError, match=r"no 'model\.layers\.4"):
        load_decoder(tmp_path)


@pytest.mark.reference
@pytest.mark.parametrize("length", [1, 2, 17, 128])
def test_a_published_implementation_gives_the_same_logits_everywhere(length: int) -> None:
    torch = pytest.importorskip("torch", reason="the extra 'reference' has it")
    transformers = pytest.importorskip("transformers", reason="the extra 'reference' has it")
    llama = transformers.LlamaForCausalLM.from_pretrained(FOLDER, dtype=torch.float32).eval()
    ids = np.random.default_rng(length).integers(0, 1024, length).tolist()
    with torch.no_grad():
        theirs = llama(torch.tensor([ids])).logits[0].numpy()
    np.testing.assert_allclose(prefill(ids), theirs, atol=1e-4)
