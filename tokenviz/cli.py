"""The command line: the same analyses without a browser."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence

from tokenviz.analysis import Analysis, analyze, report
from tokenviz.catalog import bundled_models
from tokenviz.cli_arguments import Commands, Parser, add_context, add_model, find_model, number, whole
from tokenviz.cli_decoder import add_decoder
from tokenviz.cli_place import add_place
from tokenviz.notation import DTYPE_BITS, TokenvizError
from tokenviz.scenario import GATES, OUTPUTS


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 for bad input."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a sign shows its code point
            stream.reconfigure(errors="backslashreplace")
    try:
        args = _parser().parse_args(argv)
        run: Callable[[argparse.Namespace], None] = args.run
        run(args)
        print(end="", flush=True)
    except TokenvizError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        _forget_output()
    except OSError as error:
        _forget_output()
        return _refuse(f"the output cannot be written ({error.strerror})")
    return 0


def _refuse(sentence: str) -> int:
    short = sentence if len(sentence) <= 600 else f"{sentence[:600]}..."
    print(f"tokenviz: {printable(short)}", file=sys.stderr)
    return 2


def _forget_output() -> None:
    """Nobody can receive the rest, so that it is not tried again on leaving."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def printable(text: str) -> str:
    """One line of untrusted text for a terminal: control and direction characters show as their codes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def _parser() -> Parser:
    parser = Parser(prog="tokenviz", description="One decode step of a language model, counted.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    models = commands.add_parser("models", help="names of the bundled configs, one a line")
    models.set_defaults(run=_models)
    _add_analyze(commands)
    add_place(commands)
    add_decoder(commands)
    return parser


def _add_analyze(commands: "Commands[Parser]") -> None:
    sub = commands.add_parser("analyze", help="operations, depth, arithmetic and bytes of one token")
    add_model(sub)
    add_context(sub)
    sub.add_argument("--positions", type=whole, metavar="T", help="new tokens at once (default 1)")
    sub.add_argument("--rate", type=number, metavar="R", help="tokens per second (default 100)")
    sub.add_argument("--output", choices=OUTPUTS, help="end at probabilities or at the best token (default softmax)")
    sub.add_argument("--weights", choices=tuple(DTYPE_BITS), help="precision of the weights (default: the model's own)")
    sub.add_argument("--kv", choices=tuple(DTYPE_BITS), help="precision of keys and values (default bf16)")
    sub.add_argument("--state", choices=tuple(DTYPE_BITS), help="precision of recurrent state (default fp32)")
    sub.add_argument("--metadata", action="store_true", help="count block scales and zero points too")
    sub.add_argument("--prediction-heads", action="store_true", help="count what prediction heads store and keep")
    sub.add_argument("--gate", choices=GATES, help="how the attention output gate is read")
    sub.add_argument("--json", action="store_true", help="print one JSON object")
    sub.set_defaults(run=_analyze)


def _models(_args: argparse.Namespace) -> None:
    print("\n".join(bundled_models()))


def _analyze(args: argparse.Namespace) -> None:
    model = find_model(args.model)
    scenario = model.scenario(
        context=args.context, positions=args.positions, tokens_per_s=args.rate, output=args.output,
        weights=args.weights, gate=args.gate, kv=args.kv, state=args.state, metadata=args.metadata,
        prediction=args.prediction_heads,
    )  # fmt: skip
    analysis = analyze(model, scenario)
    if args.json:
        print(json.dumps(report(analysis), indent=2))
    else:
        print(_summary(analysis))


def _summary(a: Analysis) -> str:
    rows = [
        ("operations per token", f"{a.summary.operations:,}"),
        ("critical path", f"{a.summary.critical_path:,}"),
        ("peak parallelism", f"{a.summary.peak_parallelism:,}"),
        ("average parallelism", f"{a.summary.average_parallelism:.2f}"),
        ("MACs per token", f"{a.arithmetic['mac']:,}"),
        ("exponentials", f"{sum(a.exponentials.values()):,}"),
        ("parameters, total", f"{a.parameters.total:,}"),
        ("parameters, active", f"{a.parameters.active:,}"),
        ("bytes per token", f"{a.traffic.total:,}"),
        ("  active weights", f"{a.traffic.weights:,}"),
        ("  K/V read", f"{a.traffic.kv_read:,}"),
        ("bytes per second", f"{a.traffic.total * a.scenario.tokens_per_s:,.0f}"),
    ]
    head = f"{a.model.name}: one token after {a.scenario.context:,} cached positions, weights {a.scenario.weights}"
    notes = [f"note: {sentence}" for sentence in a.assumptions]
    unread = a.model.architecture.unread_keys
    if unread:
        more = f" and {len(unread) - 20:,} more" if len(unread) > 20 else ""
        notes.append(f"note: these keys were not read, so counts may not be exact: {', '.join(unread[:20])}{more}")
    return "\n".join(map(printable, [head, *(f"  {name:<22}{value:>24}" for name, value in rows), *notes]))
