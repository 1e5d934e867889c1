# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the fuzzer: seeds in child processes, so that a crash or a hang is seen; faults are reduced and written down.

python test/fuzz/run.py --seeds 0 300
python test/fuzz/run.py --seconds 600 --write test/regression"""

from __future__ import annotations

import argparse
import json
import random
import select
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

BATCH = 100
"""Seeds per child process."""

TIMEOUT = 60.0
"""Seconds after which a seed counts as a hang."""


def child(first: int, last: int, inputs: int) -> None:
    """Runs seeds, each program on so many inputs, and prints one JSON line before and one after each."""
    from fuzz_generator import Generator
    from fuzz_outcomes import outcome_of

    for seed in range(first, last):
        print(json.dumps({"seed": seed}), flush=True)
        outcome = outcome_of(Generator(seed).program(), seeds=inputs)
        line = {
            "seed": seed,
            "kind": outcome.kind,
            "signature": outcome.signature,
            "detail": outcome.detail,
        }
        print(json.dumps(line), flush=True)


def command(first: int, last: int, inputs: int) -> list[str]:
    """The command line of a child."""
    return [sys.executable, __file__, "--child", str(first), str(last), str(inputs)]


Command = Callable[[int, int], list[str]]
"""(first seed, behind the last one) -> the command line of a child."""


def outcomes(first: int, last: int, command: Command) -> Iterator[dict[str, Any]]:
    """The outcome of every seed of a range; of a seed that ends or stops its process, "crash" or "hang"."""
    while first < last:
        with subprocess.Popen(
            command(first, last), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            for line in _lines(process):
                if "kind" in line:
                    yield line
                    first = line["seed"] + 1
            process.kill()
            _, errors = process.communicate()
            code = process.returncode
        if first < last:
            kind = "hang" if code == -9 else "crash"
            yield {"seed": first, "kind": kind, "signature": kind, "detail": errors[-2000:]}
            first += 1


def _lines(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """The lines that a child prints, until it ends or says nothing for too long."""
    assert process.stdout is not None
    while select.select([process.stdout], [], [], TIMEOUT)[0]:
        line = process.stdout.readline()
        if not line:
            process.wait()
            return
        yield json.loads(line)


def batches(options: argparse.Namespace) -> Iterator[tuple[int, int]]:
    """Ranges of seeds: those asked for, or new ones until the time is up."""
    if options.seconds is None:
        first, last = options.seeds
        for start in range(first, last, BATCH):
            yield start, min(last, start + BATCH)
        return
    end = time.monotonic() + options.seconds
    start = options.start if options.start is not None else random.SystemRandom().randrange(2**40)
    while time.monotonic() < end:
        yield start, start + BATCH
        start += BATCH


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Runs the seeds; the summary. Faults are told on stderr as they are found."""
    kinds: Counter[str] = Counter()
    faults: dict[str, dict[str, Any]] = {}
    started = time.monotonic()
    child_of = partial(command, inputs=options.inputs)
    with ThreadPoolExecutor(options.jobs) as pool:
        for lines in pool.map(lambda batch: list(outcomes(*batch, child_of)), batches(options)):
            for line in lines:
                kinds[line["kind"]] += 1
                if line["kind"] in ("fault", "crash", "hang"):
                    faults.setdefault(line["signature"], line).setdefault("seeds", []).append(
                        line["seed"]
                    )
                    print(f"seed {line['seed']}: {line['signature']}", file=sys.stderr, flush=True)
    total = sum(kinds.values())
    compiled = kinds["same"] + kinds["not run"]
    return {
        "programs": total,
        "compiled": compiled,
        "share": round(compiled / max(1, total), 4),
        "seconds": round(time.monotonic() - started, 1),
        "kinds": dict(sorted(kinds.items())),
        "faults": list(faults.values()),
    }


def write_regressions(summary: dict[str, Any], folder: Path) -> None:
    """Reduces one program of each kind of fault and writes it as a lit test."""
    from fuzz_generator import Generator
    from fuzz_reducer import reduce, regression_file

    for fault in summary["faults"]:
        program = Generator(fault["seed"]).program()
        if fault["kind"] == "fault":
            program = reduce(program, fault["signature"])
        name = "".join(c if c.isalnum() else "-" for c in fault["signature"].lower())
        path = folder / f"fuzz-{fault['seed']}-{'-'.join(name.split('-'))[:50].strip('-')}.mlir"
        path.write_text(regression_file(program, fault["signature"]))
        fault["file"] = str(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 300), metavar=("FIRST", "LAST"))
    parser.add_argument("--seconds", type=float, help="run new seeds for so long instead")
    parser.add_argument("--start", type=int, help="first seed with --seconds (default: random)")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--write", type=Path, metavar="DIR", help="where to write reduced faults")
    parser.add_argument("--inputs", type=int, default=2, help="inputs of each program")
    parser.add_argument("--child", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return 0
    summary = run(options)
    if options.write is not None:
        write_regressions(summary, options.write)
    print(json.dumps(summary, indent=2))
    return 1 if summary["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
