"""What XLA does to the speed of training.

    python -m benchmarks.speed.xla --pairs 'DIR/train-*'

Trains each preset with `python -m model`, without and with `runtime.enable_xla`, with batches
padded to their longest text and with `fixed_length` ones: XLA compiles once for each shape. On a
machine without a GPU it is told to compile for processors too, which it does not on its own.
"""

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tabulate import tabulate

from benchmarks import runs
from benchmarks.options import at_least

PRESETS = ("laptop_dan", "laptop_transformer", "laptop_lstm")
FOR_PROCESSORS = {"TF_XLA_FLAGS": "--tf_xla_cpu_global_jit"}


def main() -> None:
    """Trains one after the other, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", required=True, metavar="GLOB")
    parser.add_argument(
        "--presets", nargs="+", choices=runs.presets(), default=PRESETS, metavar="NAME"
    )
    parser.add_argument("--loops", type=at_least(2), default=6, metavar="N")
    parser.add_argument("--steps", type=at_least(1), default=20, metavar="N", help="of each loop")
    parser.add_argument("--max_tokens", type=at_least(1), default=32, metavar="N")
    arguments = parser.parse_args()
    rows = []
    for preset in arguments.presets:
        for fixed in (False, True):
            without, with_xla = (speed(preset, fixed, xla, arguments) for xla in (False, True))
            rows.append((preset, "all" if fixed else "the longest", without, with_xla))
            print(f"{preset}, {rows[-1][1]}: {without:,.0f} and {with_xla:,.0f}", flush=True)
    header = ("", "padded to", "pairs/s without XLA", "with", "ratio")
    print(f"\nbatches of the preset, max_tokens {arguments.max_tokens}")
    body = [(*row, row[-1] / row[-2]) for row in rows]
    print(tabulate(body, header, floatfmt=("", "", ",.0f", ",.0f", ".2f")))


def speed(preset: str, fixed: bool, xla: bool, arguments: argparse.Namespace) -> float:
    """Pairs per second after the first loop of steps."""
    override = {
        "task.train_data.input_path": arguments.pairs,
        "task.train_data.fixed_length": fixed,
        "task.model.text.max_tokens": arguments.max_tokens,
        "runtime.enable_xla": xla,
        "trainer.train_steps": arguments.loops * arguments.steps,
        "trainer.checkpoint_interval": arguments.loops * arguments.steps,
        "trainer.steps_per_loop": arguments.steps,
        "trainer.summary_interval": arguments.steps,
    }
    with TemporaryDirectory() as folder:
        command = runs.training(Path(folder), preset, override)
        runs.wait(runs.start(Path(folder), command, environment=FOR_PROCESSORS if xla else {}))
        return runs.pairs_per_second(Path(folder))


if __name__ == "__main__":
    main()
