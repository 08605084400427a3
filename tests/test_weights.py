"""How many elements of each weight one step reads, by hand on blocks of a few operations."""

from tokenviz.builder import Builder
from tokenviz.graph import Block, BlockRef, DecodeStep, Value
from tokenviz.weights import Parameters, parameters, weight_reads


def reads(block: Block) -> dict[str, int]:
    return {weight.id: elements for weight, elements in weight_reads(block)}


def finished(b: Builder, out: Value, key: str = "k") -> Block:
    return b.build(key=key, kind="test", title="Test", says="", spec=None, outputs={"residual": out})


def table(b: Builder) -> Value:
    return b.weight("embedding", "V D", name="E", scope="embedding")


def looked_up(positions: int, *, folded: bool) -> Block:
    b = Builder({"T": positions, "V": 10, "D": 4, "pair": 2})
    token, rows = b.input("token", "T", name="id", dtype="index"), table(b)
    gain = b.weight("norm", "D", name="g", scope="norm")
    with b.transform("lookup", "lookup", "Lookup", equation="", says=""):
        if folded:
            twin = b.fold(lambda e, g: e * g, (rows, gain), "Ê")
            found = b.op("lookup", token, rows, twin, dims=("T", "pair", "D"), label="", attrs={"stacked": True})
        else:
            found = b.op("lookup", token, rows, dims=("T", "D"), label="", attrs={"stacked": False})
    return finished(b, found)


def test_a_lookup_reads_a_row_for_each_position() -> None:
    assert reads(looked_up(1, folded=False)) == {"embedding": 4, "norm": 0}
    assert reads(looked_up(3, folded=False)) == {"embedding": 3 * 4, "norm": 0}


def test_more_positions_than_rows_read_the_whole_table() -> None:
    assert reads(looked_up(11, folded=False))["embedding"] == 10 * 4


def test_what_a_table_is_folded_from_is_read_with_it() -> None:
    # Of the pair's two rows one is the embedding's; the gain that the other is made with is read whole.
    assert reads(looked_up(1, folded=True)) == {"embedding": 4, "norm": 4}


def test_chosen_experts_are_read_and_the_others_are_not() -> None:
    b = Builder({"T": 1, "D": 4, "F": 3, "E": 8, "X": 2})
    x, chosen = b.input("residual", "T D", name="x"), b.input("chosen", "T X", name="chosen", dtype="index")
    rows = b.gather(b.weight("up.weight", "E F D", name="W"), chosen, "E")
    with b.transform("up", "projection", "Up", equation="", says=""):
        y = b.contract("T X F D, T D -> T X F", rows, x)
    assert reads(finished(b, y)) == {"up.weight": 2 * 3 * 4}


def test_a_weight_with_two_readers_is_read_once_at_its_widest() -> None:
    b = Builder({"T": 1, "V": 10, "D": 4})
    x, token = b.input("residual", "T D", name="x"), b.input("token", "T", name="id", dtype="index")
    with b.transform("both", "test", "Both", equation="", says=""):
        b.contract("V D, T D -> T V", table(b), x)
        row = b.op("lookup", token, table(b), dims=("T", "D"), label="", attrs={"stacked": False})
    assert reads(finished(b, row)) == {"embedding": 40}


def scored(key: str) -> Block:
    b = Builder({"T": 1, "V": 10, "D": 4})
    x = b.input("residual", "T D", name="x")
    with b.transform("scores", "test", "Scores", equation="", says=""):
        scores = b.contract("V D, T D -> T V", table(b), b.multiply(x, b.weight("gain", "D", name="g")))
    return finished(b, scores, key)


def test_shared_weights_count_once_and_a_layers_own_once_a_layer() -> None:
    blocks = {"lookup": looked_up(1, folded=False), "scores": scored("scores")}
    places = (BlockRef("lookup", None, "lookup"), BlockRef("scores", 0, "a"), BlockRef("scores", 1, "b"))
    found = parameters(DecodeStep(blocks, places, 1, 0), tied=True)
    # Embedding 10 · 4 and the norm's 4 once, the gain's 4 in each of two layers; the norm is read by nothing.
    assert found == Parameters(total=40 + 4 + 2 * 4, active=40 + 2 * 4, embedding=40, lm_head=0, tied=True)
