"""Stored bytes of one 4096 x 4096 matrix in each format, by hand; and which modules a declaration leaves alone."""

from dataclasses import replace

import pytest

from tokenviz.formats import FORMATS, Quantization, stored_bytes
from tokenviz.notation import DTYPE_BITS

N = 4096


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        ("fp32", 4 * N * N),
        ("bf16", 33_554_432),
        ("fp8", 16_781_312),  # N·N + (32 · 32) · 4
        ("int8", N * N + 2 * N),
        ("mxfp4", 8_912_896),  # 4.25 bits
        ("nvfp4", 9_437_188),  # 4.5 bits and one fp32
        ("int4", 8_716_288),  # N·N/2 + N · 32 · (2 + 1/2)
    ],
)
def test_one_matrix_with_its_metadata(format: str, expected: int) -> None:
    assert stored_bytes((N, N), N, FORMATS[format], metadata=True) == expected


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_without_metadata_only_the_values_count(format: str) -> None:
    assert stored_bytes((N, N), N, FORMATS[format], metadata=False) == N * N * DTYPE_BITS[format] // 8


def test_experts_are_matrices_side_by_side() -> None:
    one = stored_bytes((256, 384), 384, FORMATS["fp8"], metadata=True)
    assert stored_bytes((5, 256, 384), 384, FORMATS["fp8"], metadata=True) == 5 * one


def test_partial_blocks_have_a_scale_too() -> None:
    # 130 x 130: four blocks of up to 128 x 128
    assert stored_bytes((130, 130), 130, FORMATS["fp8"], metadata=True) == 130 * 130 + 4 * 4


def test_vectors_carry_no_scales() -> None:
    assert stored_bytes((N,), N, FORMATS["int4"], metadata=True) == N // 2


def test_every_precision_is_a_format() -> None:
    assert set(FORMATS) == set(DTYPE_BITS)


def test_declared_modules_are_left_alone() -> None:
    declared = Quantization(
        layout=FORMATS["mxfp4"], kept=("model.layers.*.self_attn", "model.layers.*.mlp.router", "lm_head", "gate")
    )
    assert declared.keeps("model.layers.11.self_attn.q_proj")
    assert declared.keeps("model.layers.0.mlp.router")
    assert declared.keeps("lm_head")
    assert declared.keeps("model.layers.0.mlp.gate")
    assert not declared.keeps("model.layers.0.mlp.gate_proj")
    assert not declared.keeps("model.layers.0.mlp.experts.down_proj")


def test_gptq_adds_an_index_for_each_column() -> None:
    # the published layout of a 4096 x 4096 matrix: 8,716,288 as AWQ stores it, and 16,384 of index
    gptq = replace(FORMATS["int4"], index_bits=32)
    assert stored_bytes((N, N), N, gptq, metadata=True) == 8_716_288 + 16_384
