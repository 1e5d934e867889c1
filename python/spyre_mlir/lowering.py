# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From one operation of the IR, divided and placed, to its SDSCs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from spyre_mlir import encodings, ir
from spyre_mlir.accesses import device_coordinates, stick_symbols
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.extents import parse
from spyre_mlir.kernel_forming import form_kernel
from spyre_mlir.kernels import Dim, Kernel
from spyre_mlir.layouts import stick_dim
from spyre_mlir.operations import (
    Storage,
    advances_of,
    attributes,
    computed_results,
    domain_of,
    indexed,
    is_whole,
    kernel_of,
    layout_of,
    meaning,
    storage_of,
)
from spyre_mlir.operations import trips as trips
from spyre_mlir.optable import Op
from spyre_mlir.partial_sticks import is_unwritten
from spyre_mlir.prover import Facts, less_equal
from spyre_mlir.quasiaffine import ZERO
from spyre_mlir.region_reader import RegionReader
from spyre_mlir.sdsc.model import Hbm, Sdsc
from spyre_mlir.sticks import lies_in_pairs, pairs_of

REDUCED_CELLS = "1 / number of reduced cells"
"""What the operation table writes for a constant that follows from the shapes."""


def parameter_count(function: ir.Operation) -> int:
    """Parameters of the bundle: the function's tensors, then its results."""
    signature = function.attributes["function_type"].value
    return sum(isinstance(t, ir.RankedTensorType) for t in (*signature.inputs, *signature.results))


def lower(op: ir.Operation) -> tuple[Sdsc, ...]:
    """The SDSCs of one operation, in order: one for each result that is used.

    Buffers are those of the operation's values by number, operands first: operations of one kind have the same SDSCs
    but for where these lie.

    Refused: SPY096 an operation without a device function, SPY097 without a linear access, SPY098 a sparse operand
    where cells are read stick by stick, and what alignment and forming refuse."""
    row = meaning(op)
    assert row is not None
    numbers = [result.result_number for result in computed_results(op)]
    functions = [_function(op, row, number) for number in numbers]
    kernel = kernel_of(op)
    if kernel is None:
        raise Refusal(
            "SPY097",
            f"'{op.name}' has no access that an SDSC can state: {row.device.refusal or row.addresses}",
        )
    _check_some_cell(op, kernel)
    _check_sparse(op, kernel)
    _check_pairs(op, row)
    _check_whole_sticks(op, kernel)
    constants = _constants(op, row, kernel)
    places = list(_places(op))
    splits = op.attributes["spyre.division"].splits
    return tuple(
        form_kernel(
            replace(kernel, accesses=tuple(kernel.accesses[i] for i in kept)),
            function=function,
            splits={dim.symbol: split for dim, split in zip(kernel.dims, splits, strict=True)},
            places=[places[i] for i in kept],
            constants=constants,
        )
        for function, kept in zip(functions, _kept(numbers, row, kernel), strict=True)
    )


def _check_some_cell(op: ir.Operation, kernel: Kernel) -> None:
    """An operation with a dim of extent 0 does nothing; a product over no cell would have to write zeros."""
    if kernel.family != "contract":
        return
    for dim in kernel.dims:
        if (
            dim.reduction
            and dim.symbolic
            and not less_equal(1, parse(dim.symbolic), _facts(op)).holds
        ):
            raise Refusal(
                "SPY101",
                f"'{op.name}' may combine no cell along iteration dim {dim.symbol}: its extent {dim.symbolic} may be "
                "0, and the device then writes nothing",
                remedy=f"declare the range of the symbols, so that {dim.symbolic} is at least 1",
            )


def _facts(op: ir.Operation) -> Facts:
    """What is known of the symbols of the function around an operation."""
    function = op.parent
    while function.name != "func.func":
        function = function.parent
    reader = RegionReader(function)
    for operation in function.regions[0].blocks[0].operations:
        if operation.operation.name == "spyre.extent":
            reader.introduce(operation.operation)
    return reader.facts


def _kept(results: list[int], row: Op, kernel: Kernel) -> list[list[int]]:
    """For each of these results, the accesses that its function has: a write reads nothing of its destination."""
    roles = {operand.name: operand.role for operand in row.operands}
    reads = [
        number
        for number, access in enumerate(kernel.accesses)
        if not access.written and roles.get(access.label) != "target"
    ]
    writes = [number for number, access in enumerate(kernel.accesses) if access.written]
    return [[*reads, writes[result]] for result in results]


def _places(op: ir.Operation) -> Iterator[Hbm]:
    """Where the buffer of each access begins, in the order of the kernel's accesses: at 0 of the value's own."""
    domain = domain_of(op)
    start = [ZERO] * len(domain.extents)
    indices = (*domain.operands, *domain.results)
    for number, (value, index) in enumerate(zip((*op.operands, *op.results), indices, strict=True)):
        if index is not None and isinstance(value.type, ir.RankedTensorType):
            whole = is_whole(value)
            storage = None if whole else storage_of(value, indexed(index, start, op))
            yield Hbm(number, 0, () if storage is None else _advances(storage, op))


def _advances(storage: Storage, op: ir.Operation) -> tuple[int, ...]:
    """How an access advances with each of the loops around `op`; empty where it stays."""
    advances = advances_of(storage)
    return advances and advances + (0,) * (_depth(op) - len(advances))


def _depth(op: ir.Operation) -> int:
    depth, parent = 0, op.parent
    while parent is not None and parent.name == "scf.for":
        depth, parent = depth + 1, parent.parent
    return depth


def _check_sparse(op: ir.Operation, kernel: Kernel) -> None:
    """What holds one value a stick cannot be read along the sticks of others."""
    sparse = [access for access in kernel.accesses if access.layout.sparse]
    if kernel.family == "reduce" or not sparse:
        return
    extents = kernel.extents
    lanes = {
        symbol
        for access in kernel.accesses
        if not access.layout.sparse
        for symbol in device_coordinates(access, extents)[-1].symbols()
    }
    for access in sparse:
        along = [s for s in access.index.symbols() if s in lanes and extents[s] > 1]
        if along:
            what = "result" if access.written else "operand"
            raise Refusal(
                "SPY098",
                f"'{op.name}': {what} '{access.label}' holds one value a stick, the others have that dim in their "
                "sticks",
                remedy="keep the reduced dim in the shape (keep_dims) and broadcast along it, or reduce a dim that "
                "is not on the stick",
            )


def _check_pairs(op: ir.Operation, row: Op) -> None:
    """A pair of moments is read and written in lanes 0 and 1 of a stick."""
    pairs = pairs_of(op, row)
    if pairs is not None and not lies_in_pairs(pairs):
        raise Refusal(
            "SPY098",
            f"'{op.name}': the pairs of moments do not lie in lanes 0 and 1 of one stick each",
            remedy="put their last dim on the stick",
        )


def _check_whole_sticks(op: ir.Operation, kernel: Kernel) -> None:
    """A device function writes whole sticks, so what is inserted must not end within one that holds other data."""
    for result, access in zip(op.results, kernel.writes, strict=True):
        window = op.name == "spyre.insert_slice" or encodings.read(result.type).window
        along = stick_dim(access.layout, access.strides)
        if not window or along is None:
            continue
        owner = encodings.read(storage_of(result).owner.type)
        held = (owner.valid_shape or owner.shape)[along]
        held = held if isinstance(held, int) else owner.shape[along]
        lanes = access.layout.elements_per_stick
        along_stick = stick_symbols(access, kernel.extents)
        if any(kernel.dim(symbol).symbolic for symbol in along_stick):
            continue  # forming knows how far they run
        written = [kernel.extents[s] for s in along_stick]
        start = access.index.constant // access.strides[along] % owner.shape[along]
        one_step = 1 if op.name == "spyre.insert_slice" else result.type.shape[along]
        end = start + max(written, default=one_step)
        insertion = op.name == "spyre.insert_slice"
        if insertion and _is_empty_behind(op.operands[1], along, end):
            continue
        if end % lanes and end < held:
            raise Refusal(
                "SPY099",
                f"'{op.name}' writes elements {start} to {end} of dim {along}, whose sticks hold {lanes}; the last "
                f"one also holds elements that stay, up to {held}",
                remedy=f"write up to a multiple of {lanes}, or put another dim on the stick",
            )


def _is_empty_behind(value: ir.Value, dim: int, end: int) -> bool:
    """Whether no element of a dim from `end` on has been written: all insertions, in loops too, end before."""
    if isinstance(value, ir.BlockArgument):
        loop = value.owner.owner
        if loop.name != "scf.for":
            return False
        return _is_empty_behind(loop.operands[3 + value.arg_number - 1], dim, end)
    made = value.owner
    if made.name == "scf.for":
        last = made.regions[0].blocks[0].operations[-1]
        return _is_empty_behind(last.operands[value.result_number], dim, end)
    if made.name == "spyre.insert_slice":
        begin = ir.DenseI64ArrayAttr(made.attributes["static_offsets"])[dim]
        inside = begin >= 0 and begin + made.operands[0].type.shape[dim] <= end
        return inside and _is_empty_behind(made.operands[1], dim, end)
    return is_unwritten(value)


def _function(op: ir.Operation, row: Op, result: int) -> str:
    """The device function, without `nonstick`, which `form` adds where the operands say so."""
    if row.tiling == "scan":
        _check_positions(op, result)
    if row.name == "identity":
        source, target = (_format(value) for value in (op.operands[0], op.results[0]))
        if source != target:
            return CONVERSIONS.get((source, target), "to_dtype")
    functions = dict(row.device.functions)
    for key in (*_keys(op, row, result), "*"):
        if key in functions:
            name = functions[key]
            return name.removesuffix("nonstick") if key == "nonstick" else name
    steps = ", ".join(f"spyre.{step}" for step in row.device.decomposition)
    reason = row.device.refusal or (
        f"it is decomposed into {steps} before" if steps else row.addresses
    )
    raise Refusal(
        "SPY096",
        f"the device has no function for '{op.name}' of {_elements(op)}",
        notes=(reason,) if reason else (),
    )


CONVERSIONS = {
    ("SEN169_FP16", "IEEE_FP32"): "dl16tofp32",
    ("IEEE_FP32", "SEN169_FP16"): "fp32todl16",
}
"""Functions that copy between formats."""


def _format(value: ir.Value) -> str:
    tensor = encodings.read(value.type)
    return layout_of(tensor).stored_as(tensor.element).name


def _check_positions(op: ir.Operation, result: int) -> None:
    given, made = (str(v.type.element_type) for v in (op.operands[0], op.results[result]))
    if given != made:
        raise Refusal(
            "SPY096",
            f"the device has no function for '{op.name}' of {given} with positions in {made}",
            remedy=f"take the positions in {given}, as the device writes them",
        )


def _elements(op: ir.Operation) -> str:
    """Element types of operands and results: what the choice of a function depends on."""
    types = [str(v.type.element_type) for v in (*op.operands, *op.results) if _is_tensor(v)]
    return ", ".join(dict.fromkeys(types))


def _keys(op: ir.Operation, row: Op, result: int) -> list[str]:
    """What the operation table may list its function under, the most particular first."""
    tensors = [value for value in (*op.operands, *op.results) if _is_tensor(value)]
    first, last = (str(value.type.element_type) for value in (tensors[0], tensors[-1]))
    sparse = layout_of(encodings.read(tensors[-1].type)).sparse
    predicate = attributes(op, row).get("predicate", "")
    name = row.results[result].name
    return [
        str(predicate),
        f"{first}->{last}",
        first,
        name if len(row.results) > 1 else "",
        "stick" if sparse else "nonstick",
    ]


def _is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


def _constants(op: ir.Operation, row: Op, kernel: Kernel) -> tuple[tuple[str, float], ...]:
    """The constants of the function: attributes of the operation, or what follows from the shapes."""
    if not row.device.constants:
        return ()
    given = attributes(op, row)
    found = []
    for name, filler in row.device.constants:
        if filler == REDUCED_CELLS:
            reduced = [dim for dim in kernel.dims if dim.reduction]
            cells = prod(dim.extent for dim in reduced)
            if any(dim.symbolic for dim in reduced):
                raise _uncounted(op, reduced)
            found.append((name, 1.0 / cells))
        elif given.get(filler) is not None:
            found.append((name, float(given[filler])))
    return tuple(found)


def _uncounted(op: ir.Operation, reduced: list[Dim]) -> Refusal:
    cells = " x ".join(dim.symbolic or str(dim.extent) for dim in reduced)
    return Refusal(
        "SPY101",
        f"'{op.name}' divides by the number of cells that it combines, {cells}, which is a constant of the device "
        "function and not known before the bundle runs",
        remedy="sum them with spyre.sum, and multiply by an argument that holds 1 / the number of cells",
    )
