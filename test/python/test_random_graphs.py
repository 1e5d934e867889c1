# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs are compiled in tiles, and mean the same at every stage, down to their bundles."""

from __future__ import annotations

import pytest
from random_graphs import Graph

from spyre_mlir import ir
from spyre_mlir.checking.comparison import compare
from spyre_mlir.checking.report import Report
from spyre_mlir.checking.stages import Options, compile_in_stages
from spyre_mlir.planning import plan_function


def report(seed: int) -> Report:
    graph = Graph(seed)
    options = Options(span_limit=graph.span_limit)
    with ir.Context():
        return compare(compile_in_stages(graph.module().operation, options), options, seeds=1)


@pytest.mark.parametrize("seed", range(1000, 1012))
def test_a_graph_means_the_same(seed: int) -> None:
    found = report(seed)
    assert found.status == "same", found.as_text()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1012, 1072))
def test_many_graphs_mean_the_same(seed: int) -> None:
    found = report(seed)
    assert found.status == "same", found.as_text()


def test_most_operations_of_the_graphs_share_loops() -> None:
    """Otherwise the test above would say little of groups."""
    from spyre_mlir import passmanager
    from spyre_mlir.explanations import BEFORE_PLANNING
    from spyre_mlir.tiling import Options as Planning

    planned = shared = 0
    for seed in range(1000, 1012):
        graph = Graph(seed)
        with ir.Context():
            module = graph.module().operation
            passmanager.run(passmanager.parse(BEFORE_PLANNING), module)
            function = module.regions[0].blocks[0].operations[0].operation
            found = plan_function(function, Planning(span_limit=graph.span_limit))
            groups = [plan.plan.group for plan in found]
        planned += len(groups)
        shared += sum(groups.count(group) > 1 for group in groups)
    assert planned >= 60 and shared >= planned / 2, (planned, shared)
