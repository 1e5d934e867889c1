# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts faults into valid programs and bundles, and reports which share is found and by whom.

python test/fuzz/mutate.py --count 2000"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import run

HARMLESS = ("division", "plan", "place")
"""Figures of a program that choose between ways to compute the same: another one is no fault if the result is."""

UPSTREAM = ("AttrTypeReader", "mlir::BytecodeReader", "EncodingReader", "SmallVector.h")
"""What a crash inside MLIR's own reader of bytecode says; its assertions end the process."""


def child(what: str, first: int, last: int) -> None:
    """Makes the mutations of some seeds; one JSON line before and one after each."""
    import fuzz_mutations

    for seed in range(first, last):
        print(json.dumps({"seed": seed}), flush=True)
        line: dict[str, Any] = {"seed": seed, "kind": "none"}
        if what == "garbled":
            line["kind"], line["detail"] = fuzz_mutations.garbled(seed)
        else:
            make: Callable[[int], Any] = getattr(fuzz_mutations, f"mutated_{what}")
            made = make(seed)
            if made is not None:
                line |= {"kind": made.found or "missed", "of": made.kind, "detail": made.detail}
        print(json.dumps(line), flush=True)


def command(first: int, last: int, *, what: str) -> list[str]:
    """The command line of a child."""
    return [sys.executable, __file__, "--child", what, str(first), str(last)]


def mutations(what: str, count: int, jobs: int) -> list[dict[str, Any]]:
    """The outcomes of `count` seeds."""
    batches = [(start, min(count, start + 250)) for start in range(0, count, 250)]
    with ThreadPoolExecutor(jobs) as pool:
        found = pool.map(
            lambda batch: list(run.outcomes(*batch, partial(command, what=what))), batches
        )
        return [line for lines in found for line in lines]


def share(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """How many of the faults were found, by whom, and what was missed, by kind of figure."""
    made = [line for line in lines if line["kind"] not in ("none", "crash", "hang")]
    missed: defaultdict[str, list[int]] = defaultdict(list)
    harmless: Counter[str] = Counter()
    for line in made:
        if line["kind"] == "missed" and line["of"] in HARMLESS:
            harmless[line["of"]] += 1
        elif line["kind"] == "missed":
            missed[line["of"]].append(line["seed"])
    total = len(made) - sum(harmless.values())
    lost = sum(map(len, missed.values()))
    return {
        "faults": total,
        "found": total - lost,
        "share": round((total - lost) / max(1, total), 4),
        "by": dict(sorted(Counter(line["kind"] for line in made).items())),
        "missed": {kind: len(seeds) for kind, seeds in sorted(missed.items())},
        "seeds of missed": {kind: seeds[:5] for kind, seeds in sorted(missed.items())},
        "same result by another way": dict(harmless),
        "crashed or hung": [line["seed"] for line in lines if line["kind"] in ("crash", "hang")],
    }


def damage(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """What came of damaged inputs, and the faults among it."""
    faults = []
    kinds: Counter[str] = Counter()
    for line in lines:
        kind = line["kind"]
        if kind == "crash" and any(word in line["detail"] for word in UPSTREAM):
            kind = "crash in MLIR's bytecode reader"
        kinds[kind] += 1
        if kind in ("fault", "crash", "hang"):
            faults.append(line)
    return {"inputs": len(lines), "kinds": dict(sorted(kinds.items())), "faults": faults[:20]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=3000, help="of each kind (default: 3000)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        what, first, last = options.child
        child(what, int(first), int(last))
        return 0
    report = {
        "programs": share(mutations("program", options.count, options.jobs)),
        "bundles": share(mutations("bundle", options.count, options.jobs)),
        "damaged": damage(mutations("garbled", options.count, options.jobs)),
    }
    print(json.dumps(report, indent=2))
    enough = min(report["programs"]["share"], report["bundles"]["share"]) >= 0.98
    ended = report["programs"]["crashed or hung"] + report["bundles"]["crashed or hung"]
    return 0 if enough and not ended and not report["damaged"]["faults"] else 1


if __name__ == "__main__":
    sys.exit(main())
