"""`tokenviz place`: what it prints can be recomputed from what it prints."""

import json
from math import hypot

import pytest

from tokenviz.cli import main


def run(capsys, *arguments: str) -> dict:
    assert main(["place", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def worth(found: dict, metric: str) -> float:
    at = {n["id"]: (n["x"], n["y"]) for n in found["nodes"]}
    total = 0.0
    for arrow in found["handoffs"]:
        across, down = (at[arrow["source"]][k] - at[arrow["target"]][k] for k in (0, 1))
        total += arrow["values"] * (hypot(across, down) if metric == "euclidean" else abs(across) + abs(down))
    return total


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize(("chain", "grouping"), [("deltanet", "stages"), ("attention", "types"), ("output", "stages")])
def test_w_follows_from_the_nodes_and_arrows_printed(capsys, chain: str, grouping: str, metric: str) -> None:
    found = run(capsys, "qwen3.5-0.8b", "--chain", chain, "--grouping", grouping, "--distance", metric)
    assert found["objective"] == pytest.approx(worth(found, metric), rel=1e-12)
    assert found["lower_bound"] <= found["objective"] <= found["start_objective"]
    assert {"spring", "kamada_kawai", "spectral"} <= set(found["baselines"])
    assert all(found["objective"] <= plain for plain in found["baselines"].values())


def test_no_two_labels_are_closer_than_their_clearance(capsys) -> None:
    for sites in ("grid", "free"):
        found = run(capsys, "qwen3.5-0.8b", "--chain", "ffn", "--grouping", "stages", "--sites", sites)
        width, height = found["clearance"]
        spots = [(n["x"], n["y"]) for n in found["nodes"]]
        for k, a in enumerate(spots):
            for b in spots[k + 1 :]:
                assert abs(a[0] - b[0]) >= width - 1e-6 or abs(a[1] - b[1]) >= height - 1e-6


def test_the_fields_are_those_promised(capsys) -> None:
    found = run(capsys, "qwen3.5-0.8b", "--chain", "output", "--grouping", "types")
    assert {"chain", "grouping", "clearance", "distance", "nodes", "handoffs", "objective", "start_objective",
            "lower_bound", "baselines"} <= set(found)  # fmt: skip
    assert (found["chain"], found["grouping"], found["distance"]) == ("output", "types", "euclidean")
    assert {"id", "label", "x", "y", "operations"} <= set(found["nodes"][0])
    assert {"source", "target", "values", "retained"} <= set(found["handoffs"][0])
    assert sum(n["operations"] for n in found["nodes"]) == 13  # norm 6, scores 2, softmax 5


def test_a_seed_decides_and_the_same_seed_repeats(capsys) -> None:
    call = ("qwen3.5-0.8b", "--chain", "attention", "--grouping", "types", "--seed")
    assert run(capsys, *call, "1") == run(capsys, *call, "1")


def test_a_chain_that_the_model_lacks_is_one_sentence_and_status_2(capsys) -> None:
    assert main(["place", "llama-3.2-1b-instruct", "--chain", "deltanet", "--grouping", "stages"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "tokenviz: no chain 'deltanet' in this model; choose one of attention, ffn, output, token\n"


def test_the_summary_names_w_and_the_heaviest_hand_off(capsys) -> None:
    assert main(["place", "QWEN3.5-0.8B", "--chain", "deltanet", "--grouping", "stages", "--context", "5"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("qwen3.5-0.8b: deltanet, stages; W in values x canvas units\n")
    assert "deltanet/delta.save -> deltanet/delta.multiply: 4.72 M (retained)" in text
