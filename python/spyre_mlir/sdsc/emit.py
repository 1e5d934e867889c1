# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the model to the JSON of one SDSC: keys, order and spelling of the reference compiler.

Every field of the file that is not a fact of its own is derived here, and only here: layout
classes, scales, folds, symbol ids. The reader derives nothing: it takes the facts out of the file,
emits them again and compares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spyre_mlir.sdsc.model import POOL, Axis, Constant, Hbm, Lx, Mask, Operand, Sdsc, Steps

Json = dict[str, Any]

CLASSES: dict[str, tuple[str, ...]] = {
    "pt": ("INPUT", "KERNEL", "OUTPUT", "KERNEL_IDX"),
    "sfp": ("OUTPUT", "KERNEL", "INPUT", "KERNEL_IDX"),
}
"""Names of layout classes, in the order in which an execution unit's operands take them."""

MASK_CONSTANT = "samv-maskvalue"
"""The constant that holds what masked elements read as."""


@dataclass(frozen=True, slots=True)
class Symbols:
    """Symbol ids of one operand: the id of each core's address, and per id the bytes from the
    buffer's start.

    Both are empty for an operand in the scratchpad, whose addresses are numbers. `steps` holds the
    ids of addresses that go with symbolic extents."""

    of_core: tuple[str, ...]
    offsets: dict[int, int]
    steps: dict[int, Steps] = field(default_factory=dict)


def number(sdsc: Sdsc, first: int = 1) -> tuple[tuple[Symbols, ...], int]:
    """Symbol ids of every operand, counting from `first`, and the first number left over.

    One counter runs over a bundle. The parameters of the operation come first (`parameter_ids`).
    An argument takes a number for its base, one more if the operand
    starts behind it, then one per distinct address of a core; a pool operand one per distinct
    address. What an operation names twice has one number. Ids are the negative numbers.
    """
    ids: dict[tuple[object, ...], int] = {}
    count = len(sdsc.parameters)
    behind = first + count

    def symbol(*key: object) -> int:
        if key not in ids:
            ids[key] = -behind - len(ids)
        return ids[key]

    numbered = []
    for operand in sdsc.operands:
        place = operand.place
        if isinstance(place, Lx):
            numbered.append(Symbols((), {}))
            continue
        starts = _starts(sdsc, operand) if count else sdsc.core_offsets(operand)
        if place.buffer == POOL:
            of_start = {
                start: symbol(POOL, 0, place.offset, start, place.advances)
                if isinstance(start, tuple)
                else symbol(POOL, 0, place.offset + start, place.advances)
                for start in dict.fromkeys(starts)
            }
        else:
            if place.offset:
                symbol(place.buffer, 0, 0, place.advances)
            of_start = {
                start: symbol(place.buffer, place.offset, start, place.advances)
                for start in dict.fromkeys(starts)
            }
        numbered.append(_numbered(place, starts, of_start))
    return tuple(numbered), behind + len(ids)


def parameter_ids(sdsc: Sdsc, first: int) -> tuple[int, ...]:
    """Symbol ids of what the caller passes for an operation whose symbols count from `first`, in
    the order of `Sdsc.parameters`."""
    return tuple(range(-first, -first - len(sdsc.parameters), -1))


_Start = int | tuple[int, Steps]
"""Where a core's slice begins: bytes, and what goes with symbolic extents."""


def _starts(sdsc: Sdsc, operand: Operand) -> list[_Start]:
    return [(at, steps) if steps else at for at, steps in sdsc.core_steps(operand)]


def _numbered(place: Hbm, starts: Sequence[_Start], ids: Mapping[_Start, int]) -> Symbols:
    offsets, steps = {}, {}
    for start, symbol in ids.items():
        if isinstance(start, tuple):
            start, steps[symbol] = start
        offsets[symbol] = place.offset + start
    return Symbols(tuple([str(ids[start]) for start in starts]), offsets, steps)


def classes(sdsc: Sdsc) -> list[str]:
    """The layout class of each operand: same stick dim, stick size and set of dims, same class.

    ValueError where an operation needs more classes than there are names."""
    names: dict[tuple[str, int, frozenset[str]], str] = {}
    labels = []
    for operand in sdsc.operands:
        key = (
            operand.stick,
            operand.storage.elements_per_stick,
            frozenset([axis.dim for axis in operand.axes]),
        )
        if key not in names:
            if len(names) == len(CLASSES[sdsc.unit]):
                raise ValueError(f"{sdsc.function}: more than {len(names)} layout classes")
            names[key] = CLASSES[sdsc.unit][len(names)]
        labels.append(names[key])
    return labels


def emit(
    sdsc: Sdsc, *, index: int = 0, first: int = 1, symbols: tuple[Symbols, ...] | None = None
) -> Json:
    """The JSON of `sdsc_<index>.json`, its symbols numbered from `first` (`symbols`: as `number`
    gives them)."""
    cores = range(sdsc.cores)
    counts = dict(sdsc.cut)
    numbered = number(sdsc, first)[0] if symbols is None else symbols
    ids = parameter_ids(sdsc, first)
    return {
        f"{index}_{sdsc.function}": {
            "debug_handle_": sdsc.provenance,
            "sdscFoldProps_": [_factor(1, "time")],
            "sdscFolds_": {
                "dim_prop_func": [_affine(1)],
                "dim_prop_attr": [_factor(1, "time")],
                "data_": {"[0]": "0"},
            },
            "coreFoldProp_": _factor(len(cores), "core"),
            "coreletFoldProp_": _factor(1, "corelet"),
            "numCoresUsed_": len(cores),
            "coreIdToDsc_": {str(core): 0 for core in cores},
            "numWkSlicesPerDim_": {dim.label: counts.get(dim.label, 1) for dim in sdsc.dims},
            "coreIdToWkSlice_": _by_core(sdsc.slices()),
            "coreIdToDscSchedule": {str(core): [[-1, 0, 0, 0]] for core in cores},
            "dscs_": [{sdsc.function: _body(sdsc, numbered, ids)}],
            **_symbolic(sdsc, ids),
        }
    }


def _symbolic(sdsc: Sdsc, ids: Sequence[int]) -> Json:
    """The fields of an operation with symbolic dims or masks."""
    if not ids:
        return {}
    tags = zip(ids, sdsc.parameters, strict=True)
    return {
        "datadscs_": [],
        "dimToSymbolMappingOpcodeCorrection_": {},
        "inputSymbolsAndTags_": {str(symbol): parameter.tag for symbol, parameter in tags},
        "symbolDefinitions_": {},
    }


def _body(sdsc: Sdsc, numbered: tuple[Symbols, ...], ids: Sequence[int]) -> Json:
    labels = classes(sdsc)
    orders: dict[str, list[str]] = {}
    primary: Json = {}
    for operand, label in zip(sdsc.operands, labels, strict=True):
        if label not in orders:
            orders[label] = [axis.dim for axis in operand.axes]
            primary[label] = {
                "layoutDimOrder_": list(orders[label]),
                "stickDimOrder_": [operand.stick],
                "stickSize_": [operand.storage.elements_per_stick],
            }
    names = [f"Tensor{i}-idx{i}" for i in range(len(labels))]
    symbolic = [dim.label for dim in sdsc.dims if dim.symbolic is not None]
    mapping = {label: [symbol] for label, symbol in zip(symbolic, ids, strict=False)}
    return {
        "numCoresUsed_": sdsc.cores,
        "numCoreletsUsed_": 1,
        "coreIdsUsed_": list(range(sdsc.cores)),
        "N_": {"name_": "n", **{f"{dim.label}_": dim.extent for dim in sdsc.dims}},
        "coordinateMasking_": _masking(sdsc.mask, ids[len(symbolic) :]),
        "maskingConstId_": _mask_constant(sdsc),
        **({"dimToSymbolMapping_": mapping} if mapping else {}),
        "dataStageParam_": {"0": {"ss_": _stage(sdsc), "el_": _stage(sdsc)}},
        "primaryDsInfo_": primary,
        "scheduleTree_": [
            _allocate(sdsc, i, operand, orders[labels[i]], numbered[i])
            for i, operand in enumerate(sdsc.operands)
        ],
        "labeledDs_": [
            _labeled(i, operand, labels[i], orders[labels[i]])
            for i, operand in enumerate(sdsc.operands)
        ],
        "constantInfo_": {
            str(i): _constant(constant, sdsc.cores) for i, constant in enumerate(sdsc.constants)
        }
        or "{}",
        "computeOp_": [
            {
                "exUnit": sdsc.unit,
                "opFuncName": sdsc.function,
                "attributes_": {
                    "dataFormat_": sdsc.operands[0].format,
                    "fidelity_": "regular",
                },
                "location": "Inner",
                "inputLabeledDs": names if sdsc.reads_output else names[:-1],
                "outputLabeledDs": names[-1:],
            }
        ],
    }


def _masking(masks: Sequence[Mask], ids: Sequence[int]) -> Json:
    """Valid and padded elements; `ids` hold the numbers of valid elements that the caller passes."""
    given = iter(ids)
    return {
        mask.dim: [[mask.valid if mask.tag is None else next(given), mask.pad]] for mask in masks
    }


def _mask_constant(sdsc: Sdsc) -> int:
    """Index of the constant that masked elements read as, -1 without mask."""
    if not sdsc.mask:
        return -1
    for index, constant in enumerate(sdsc.constants):
        if constant.name == MASK_CONSTANT:
            return index
    raise ValueError(f"{sdsc.function}: a mask without the constant {MASK_CONSTANT}")


def _stage(sdsc: Sdsc) -> Json:
    """Extents of the work of one core."""
    counts = dict(sdsc.cut)
    return {
        "name_": "core",
        **{f"{dim.label}_": dim.extent // counts.get(dim.label, 1) for dim in sdsc.dims},
        "symbolicDimInfo_": {
            dim.label: {
                "maximum_": dim.extent // counts.get(dim.label, 1),
                "granularity_": dim.symbolic.granularity // counts.get(dim.label, 1),
            }
            for dim in sdsc.dims
            if dim.symbolic is not None
        },
        "maxSymbolicVolume_": {},
        "coreletSplit_": {},
        "rowSplit_": {},
        "peSfpSplit_": {},
        "paddingSizes_": {},
    }


def _allocate(sdsc: Sdsc, index: int, operand: Operand, order: list[str], symbols: Symbols) -> Json:
    place = operand.place
    lx = isinstance(place, Lx)
    component = "lx" if lx else "hbm"
    cores = range(sdsc.cores)
    starts = [str(place.address)] * len(cores) if isinstance(place, Lx) else symbols.of_core
    node: Json = {
        "nodeType_": "allocate",
        "name_": f"allocate-Tensor{index}_{component}",
        "prev_": "",
        "ldsIdx_": index,
        "component_": component,
    }
    if not lx:
        node["isStartAddrSymbolic_"] = 1
    node["layoutDimOrder_"] = [axis.dim for axis in operand.axes]
    node["maxDimSizes_"] = [-1] * len(operand.axes)
    node["indirectAllocType_"] = "no_indirection"
    node["startAddressCoreCorelet_"] = {
        "dim_prop_func": [{"Map": {}}, {"Const": {}}, {"Const": {}}],
        "dim_prop_attr": _core_factors(len(cores)),
        "data_": {f"[{core}, 0, 0]": start for core, start in enumerate(starts)},
    }
    gaps = {
        axis.dim: {str(core): str(axis.gap) for core in (cores if lx else (-1,))}
        for axis in operand.axes
        if axis.gap
    }
    if gaps:
        node["backGapCore_"] = gaps
    own = place.cut if isinstance(place, Lx) else None
    counts = dict(sdsc.cut if own is None else own)
    axes = {axis.dim: axis for axis in operand.axes}
    extents = sdsc.extents
    node["coordinates_"] = {
        "coordInfo": {
            dim: _coordinate(operand, axes[dim], extents[dim], counts.get(dim, 1)) for dim in order
        },
        "coreIdToWkSlice_": {} if own is None else _by_core(sdsc.slices(own)),
    }
    return node


def _coordinate(operand: Operand, axis: Axis, extent: int, split: int) -> Json:
    """Folds of one dim: over cores, corelets and rows, then over sticks and elements."""
    if not axis.iterates:
        extent, split = 1, 1
    size = extent // split
    if axis.dim != operand.stick:
        return _folds([size, 0, 0, 1], [split, 1, 1, size])
    eps = operand.storage.elements_per_stick
    if not axis.iterates:
        return _folds([eps, 0, 0, eps, 0], [1, 1, 1, 1, eps])
    return _folds([size, 0, 0, eps, 1], [split, 1, 1, size // eps, eps])


FOLDS: dict[int, tuple[str, ...]] = {
    4: ("core_fold", "corelet_fold", "row_fold", "elem_arr_0"),
    5: ("core_fold", "corelet_fold", "row_fold", "elem_arr_1", "elem_arr_0"),
}
"""Labels of the folds of a dim: four outside the stick, five for the stick dim."""


def _folds(alphas: list[int], factors: list[int]) -> Json:
    return {
        "spatial": 3,
        "temporal": 0,
        "elemArr": len(alphas) - 3,
        "padding": "nopad",
        "folds": {
            "dim_prop_func": [_affine(alpha) for alpha in alphas],
            "dim_prop_attr": [
                {"factor_": factor, "label_": label}
                for factor, label in zip(factors, FOLDS[len(factors)], strict=True)
            ],
        },
    }


def _labeled(index: int, operand: Operand, label: str, order: list[str]) -> Json:
    scales = {
        axis.dim: 1 if axis.iterates else -2 if axis.dim == operand.stick else -1
        for axis in operand.axes
    }
    present = {"isPresent": 1}
    return {
        "ldsIdx_": index,
        "dsName_": f"Tensor{index}",
        "dsType_": label,
        "scale_": [scales[dim] for dim in order],
        "wordLength": operand.storage.bytes,
        "dataFormat_": operand.format,
        "memOrg_": {"hbm": present, "lx": dict(present)}
        if isinstance(operand.place, Hbm)
        else {"lx": present},
    }


def _constant(constant: Constant, cores: int) -> Json:
    return {
        "dataFormat_": constant.format,
        "name_": constant.name,
        "data_": {
            "dim_prop_func": [{"Const": {}}, {"Const": {}}, {"Map": {}}],
            "dim_prop_attr": _core_factors(cores),
            "data_": {"[0, 0, 0]": [constant.bits]},
        },
    }


def _core_factors(cores: int) -> list[Json]:
    return [_factor(cores, "core"), _factor(1, "corelet"), _factor(1, "time")]


def _by_core(slices: list[dict[str, int]]) -> Json:
    return {str(core): at for core, at in enumerate(slices)}


def _affine(alpha: int) -> Json:
    return {"Affine": {"alpha_": alpha, "beta_": 0}}


def _factor(factor: int, label: str) -> Json:
    return {"factor_": factor, "label_": label}
