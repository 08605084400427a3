"""The decoder as a PyTorch module whose parameters carry the names of a Hugging Face Llama checkpoint."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from tokenviz.decoder.tokenizer import END_ID


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of the decoder, under the names that a Llama ``config.json`` gives them."""

    vocab_size: int = 1024
    hidden_size: int = 128
    intermediate_size: int = 352
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 32
    max_position_embeddings: int = 128
    rms_norm_eps: float = 1e-5
    rope_theta: float = 10000.0


SHAPE = Shape()


def config_json() -> str:
    """The ``config.json`` under which other programs load the weights as a plain Llama model."""
    fixed = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": END_ID,
        "eos_token_id": END_ID,
        "torch_dtype": "float32",
    }
    return json.dumps(fixed | asdict(SHAPE), indent=2) + "\n"


def rope_angles(length: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines of the rotation, both ``length H``; channel i turns together with channel i + H/2."""
    half = SHAPE.head_dim // 2
    rates = SHAPE.rope_theta ** (-torch.arange(half, dtype=torch.float32) / half)
    angles = torch.outer(torch.arange(length, dtype=torch.float32), rates).repeat(1, 2)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """RoPE of ``x``, ``B heads T H``."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class RMSNorm(nn.Module):
    """Divide by the root mean square, multiply by a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(SHAPE.hidden_size))

    def forward(self, x: Tensor) -> Tensor:
        """``B T D`` in, ``B T D`` out, in float32."""
        x = x.float()
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + SHAPE.rms_norm_eps))


class Attention(nn.Module):
    """Causal attention: four query heads, two of them share each key/value head."""

    def __init__(self) -> None:
        super().__init__()
        width, head = SHAPE.hidden_size, SHAPE.head_dim
        self.q_proj = nn.Linear(width, SHAPE.num_attention_heads * head, bias=False)
        self.k_proj = nn.Linear(width, SHAPE.num_key_value_heads * head, bias=False)
        self.v_proj = nn.Linear(width, SHAPE.num_key_value_heads * head, bias=False)
        self.o_proj = nn.Linear(SHAPE.num_attention_heads * head, width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """``B T D`` in, ``B T D`` out."""
        q, k, v = (
            projection(x).unflatten(-1, (-1, SHAPE.head_dim)).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = rotate(q, cos, sin).to(v.dtype), rotate(k, cos, sin).to(v.dtype)
        group = SHAPE.num_attention_heads // SHAPE.num_key_value_heads
        k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        # Written out, bfloat16 on a CPU trains about four times faster than PyTorch's fused attention.
        scores = (q @ k.transpose(-1, -2)).float() / math.sqrt(SHAPE.head_dim)
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        mixed = torch.softmax(scores.masked_fill(future, -math.inf), dim=-1).to(v.dtype) @ v
        out: Tensor = self.o_proj(mixed.transpose(1, 2).flatten(-2))
        return out


class FeedForward(nn.Module):
    """SwiGLU: silu(gate) times up, then down."""

    def __init__(self) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(SHAPE.hidden_size, SHAPE.intermediate_size, bias=False)
        self.up_proj = nn.Linear(SHAPE.hidden_size, SHAPE.intermediate_size, bias=False)
        self.down_proj = nn.Linear(SHAPE.intermediate_size, SHAPE.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """``B T D`` in, ``B T D`` out."""
        out: Tensor = self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))
        return out


class Layer(nn.Module):
    """Attention and feed-forward section, each after a norm and added to the residual stream."""

    def __init__(self) -> None:
        super().__init__()
        self.input_layernorm, self.self_attn = RMSNorm(), Attention()
        self.post_attention_layernorm, self.mlp = RMSNorm(), FeedForward()

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """``B T D`` in, ``B T D`` out."""
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        out: Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return out


class Stack(nn.Module):
    """Embedding, four layers, final norm."""

    def __init__(self) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(SHAPE.vocab_size, SHAPE.hidden_size)
        self.layers = nn.ModuleList(Layer() for _ in range(SHAPE.num_hidden_layers))
        self.norm = RMSNorm()


class Decoder(nn.Module):
    """Token numbers ``B T`` to logits ``B T V``; the embedding matrix also makes the logits."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Stack()
        self._initialise()

    def _initialise(self) -> None:
        for name, parameter in self.named_parameters():
            if "embed" in name:
                nn.init.normal_(parameter, std=0.02)
            elif parameter.dim() > 1:
                # The two matrices that write into the residual stream start smaller, as there are 2 L = 8 such writes.
                writes = name.endswith(("o_proj.weight", "down_proj.weight"))
                shrink = math.sqrt(2 * SHAPE.num_hidden_layers) if writes else 1.0
                nn.init.normal_(parameter, std=1 / (math.sqrt(parameter.shape[1]) * shrink))

    def forward(self, ids: Tensor) -> Tensor:
        """Logits ``B T V`` of token numbers ``B T``."""
        cos, sin = rope_angles(ids.shape[1])
        x = self.model.embed_tokens(ids)
        for layer in self.model.layers:
            x = layer(x, cos, sin)
        return functional.linear(self.model.norm(x), self.model.embed_tokens.weight)


def load_decoder(path: Path) -> Decoder:
    """The trained module from a weights file."""
    from tokenviz.decoder.weights import load_weights

    decoder = Decoder()
    decoder.load_state_dict({name: torch.tensor(value) for name, value in load_weights(path).items()})
    return decoder.eval()
