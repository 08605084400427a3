"""The commands `tokenviz map` and `tokenviz generate`: the small trained decoder without a browser."""

import argparse
import json
import sys
from typing import Any

from tokenviz.cli_arguments import Commands, Parser, number, whole
from tokenviz.decoder.generate import Advance, generate, read_prompt
from tokenviz.decoder.map import prediction_map
from tokenviz.decoder.model import Decoder, load_decoder
from tokenviz.decoder.sampling import Sampling
from tokenviz.decoder.stations import PredictionMap


def add_decoder(commands: "Commands[Parser]") -> None:
    """Add both subcommands to a parser's commands."""
    sub = commands.add_parser("map", help="the Network page's nodes, connections and recorded steps")
    sub.add_argument("--json", action="store_true", help="print one JSON object")
    sub.set_defaults(run=_map)
    sub = commands.add_parser("generate", help="continue a text with the small trained decoder")
    sub.add_argument("prompt", metavar="PROMPT", help="the text to continue")
    sub.add_argument("--tokens", type=whole, default=40, metavar="N", help="at most so many tokens (default 40)")
    sub.add_argument("--temperature", type=number, default=0.8, metavar="T", help="0 is greedy (default 0.8)")
    sub.add_argument("--top-k", type=whole, metavar="K", help="draw from the K most likely (default: all)")
    sub.add_argument("--top-p", type=number, default=1.0, metavar="P", help="draw from the share P (default 1)")
    sub.add_argument("--seed", type=whole, default=0, metavar="S", help="start of the random numbers (default 0)")
    sub.add_argument("--json", action="store_true", help="print one JSON object")
    sub.set_defaults(run=_generate)


def _map(args: argparse.Namespace) -> None:
    found = prediction_map(load_decoder().architecture)
    if args.json:
        print(json.dumps(map_report(found), indent=2))
        return
    counts = f"{len(found.nodes)} nodes, {len(found.connections)} connections, {len(found.steps)} steps"
    rows = [f"{_at(node.event):>4}  {node.region:<8}  {node.id:<26}{node.title}" for node in found.nodes.values()]
    print("\n".join([counts, "step  region    node                      what", *rows]))


def _at(event: int | None) -> str:
    return "–" if event is None else str(event + 1)


def map_report(found: PredictionMap) -> dict[str, Any]:
    """The map as plain data. Dimensions are letters: T new positions, S positions attended."""
    return {
        "nodes": [
            {
                "id": node.id, "title": node.title, "kind": node.kind, "region": node.region, "role": node.role,
                "event": node.event,
                "inputs": [{"name": p.name, "dims": list(p.dims), "source": p.source} for p in node.inputs],
                "outputs": [{"name": p.name, "dims": list(p.dims)} for p in node.outputs],
            }
            for node in found.nodes.values()
        ],
        "connections": [{"source": c.source, "target": c.target, "kind": c.kind} for c in found.connections],
        "steps": [
            {"step": i, "node": name, "title": found.nodes[name].title, "region": found.nodes[name].region}
            for i, name in enumerate(found.steps)
        ],
    }  # fmt: skip


def _generate(args: argparse.Namespace) -> None:
    decoder = load_decoder()
    sampling = Sampling(temperature=args.temperature, top_k=args.top_k, top_p=args.top_p, seed=args.seed)
    made = tuple(generate(decoder, args.prompt, sampling, args.tokens))
    report = generation_report(decoder, args.prompt, made)
    if args.json:
        print(json.dumps(report, indent=2))
        return
    print(args.prompt.rstrip(" ").encode("utf-8", "replace").decode() + report["text"])
    for note in report["notes"]:
        print(f"note: {note}", file=sys.stderr)


def generation_report(decoder: Decoder, text: str, made: tuple[Advance, ...]) -> dict[str, Any]:
    """What was read, what was drawn and how likely it was, as plain data."""
    prompt = read_prompt(decoder, text)
    pieces = decoder.tokenizer
    rebuilt = [a.rebuild.says(decoder.window) for a in made if a.rebuild is not None]
    dropped = [f"the window holds {decoder.window} tokens; the prompt's first {prompt.dropped} were left out"]
    return {
        "prompt": prompt.text.encode("utf-8", "replace").decode(),
        "prompt_tokens": [{"id": i, "text": pieces.piece(i)} for i in prompt.ids],
        "text": pieces.decode(a.token for a in made),
        "tokens": [
            {
                "id": a.token, "text": pieces.piece(a.token), "probability": float(a.draw.before[a.token]),
                "share_drawn_from": float(a.draw.after[a.token]), "n": a.positions, "m": a.attended,
                "rebuilt": a.rebuild is not None,
            }
            for a in made
        ],
        "ended": made[-1].session.ended,
        "notes": [*(dropped if prompt.dropped else []), *rebuilt],
    }  # fmt: skip
