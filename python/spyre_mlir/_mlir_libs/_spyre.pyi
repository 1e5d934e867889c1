"""
Dialects, prover and pass bridge of spyre-mlir; use it through the spyre_mlir package.
"""

from collections.abc import Sequence

import mlir._mlir_libs._mlir.ir
import mlir.ir
import mlir.passmanager


def register_dialects(registry: mlir.ir.DialectRegistry) -> None:
    """Adds the dialects of the project to a registry."""

class LayoutAttr(mlir.ir.Attribute):
    @staticmethod
    def isinstance(other_attribute: mlir.ir.Attribute) -> bool: ...

    def __repr__(self) -> str: ...

    @staticmethod
    def get_static_typeid() -> mlir.ir.TypeID: ...

    @classmethod
    def get(cls, device_size: Sequence[int], stride_map: Sequence[int], *, format: str = "", arrangement: str = "", context: mlir.ir.Context | None = None) -> LayoutAttr: ...

    @property
    def device_size(self) -> list[int]: ...

    @property
    def stride_map(self) -> list[int]: ...

    @property
    def format(self) -> str | None: ...

    @property
    def arrangement(self) -> str | None: ...

class ExtentAttr(mlir.ir.Attribute):
    @staticmethod
    def isinstance(other_attribute: mlir.ir.Attribute) -> bool: ...

    def __repr__(self) -> str: ...

    @staticmethod
    def get_static_typeid() -> mlir.ir.TypeID: ...

    @classmethod
    def get(cls, value: int | str | ExtentAttr, *, context: mlir.ir.Context | None = None) -> ExtentAttr: ...

    @property
    def value(self) -> int | str: ...

def normalize_extent(text: str) -> str:
    """Normal form of an extent expression; ValueError if it is none."""

class EncodingAttr(mlir.ir.Attribute):
    @staticmethod
    def isinstance(other_attribute: mlir.ir.Attribute) -> bool: ...

    def __repr__(self) -> str: ...

    @staticmethod
    def get_static_typeid() -> mlir.ir.TypeID: ...

    @classmethod
    def get(cls, *, layout: LayoutAttr | None = None, window: bool = False, valid_shape: Sequence[int | str | ExtentAttr] | None = None, pad: str | None = None, context: mlir.ir.Context | None = None) -> EncodingAttr: ...

    @property
    def layout(self) -> LayoutAttr | None: ...

    @property
    def window(self) -> bool: ...

    @property
    def valid_shape(self) -> list[int | str] | None: ...

    @property
    def pad(self) -> str | None: ...

class TileLevelAttr(mlir.ir.Attribute):
    @staticmethod
    def isinstance(other_attribute: mlir.ir.Attribute) -> bool: ...

    def __repr__(self) -> str: ...

    @staticmethod
    def get_static_typeid() -> mlir.ir.TypeID: ...

    @classmethod
    def get(cls, kind: str, dim: int | str, count: int, size: int = 0, remainder: int = 0, *, context: mlir.ir.Context | None = None) -> TileLevelAttr: ...

    @property
    def kind(self) -> str: ...

    @property
    def dim(self) -> int | str: ...

    @property
    def count(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def remainder(self) -> int: ...

class TilePlanAttr(mlir.ir.Attribute):
    @staticmethod
    def isinstance(other_attribute: mlir.ir.Attribute) -> bool: ...

    def __repr__(self) -> str: ...

    @staticmethod
    def get_static_typeid() -> mlir.ir.TypeID: ...

    @classmethod
    def get(cls, origin: str, group: int, levels: Sequence[TileLevelAttr], reason: str | None = None, *, context: mlir.ir.Context | None = None) -> TilePlanAttr: ...

    @property
    def origin(self) -> str: ...

    @property
    def group(self) -> int: ...

    @property
    def levels(self) -> list[TileLevelAttr]: ...

    @property
    def reason(self) -> str | None: ...

class WorkDivisionAttr(mlir.ir.Attribute):
    @staticmethod
    def isinstance(other_attribute: mlir.ir.Attribute) -> bool: ...

    def __repr__(self) -> str: ...

    @staticmethod
    def get_static_typeid() -> mlir.ir.TypeID: ...

    @classmethod
    def get(cls, splits: Sequence[int], *, context: mlir.ir.Context | None = None) -> WorkDivisionAttr: ...

    @property
    def splits(self) -> list[int]: ...

class PlaceAttr(mlir.ir.Attribute):
    @staticmethod
    def isinstance(other_attribute: mlir.ir.Attribute) -> bool: ...

    def __repr__(self) -> str: ...

    @staticmethod
    def get_static_typeid() -> mlir.ir.TypeID: ...

    @classmethod
    def get(cls, kind: str, index: int, offset: int, *, context: mlir.ir.Context | None = None) -> PlaceAttr: ...

    @property
    def kind(self) -> str: ...

    @property
    def index(self) -> int: ...

    @property
    def offset(self) -> int: ...

def initialize_bridge(registry: mlir.ir.DialectRegistry, create: object, run: object, expand: object) -> None:
    """
    Connects passes and pipelines with the functions that make, run and expand them.
    """

def register_pass(schema: object, owner: object) -> None: ...

def register_pipeline(schema: object, owner: object) -> None: ...

def is_registered(argument: str) -> bool:
    """Whether a pass or pipeline of this name exists."""

def is_dialect(name: str) -> bool: ...

def spell_option_value(value: str) -> str:
    """The text that stands for `value` in a pipeline."""

def run_pass_manager(pass_manager: mlir.passmanager.PassManager, operation: mlir.ir.Operation, on_one_thread: bool, emit_errors: bool, make_info: object) -> tuple[bool, list]:
    """
    (succeeded, errors); with `emit_errors`, errors go to the handlers of the context.
    """

def emit_error(location: mlir.ir.Location, message: str, notes: Sequence[tuple[mlir.ir.Location, str]]) -> None: ...

def count(argument: str, statistic: int, count: int) -> None: ...

def is_opt_flag(name: str) -> bool:
    """Whether spyre-opt has an option of this name that is not a pass."""

def opt_main(argv: Sequence[str], registry: mlir.ir.DialectRegistry) -> int:
    """mlir-opt with everything that is registered; once per process."""

def lsp_main(argv: Sequence[str], registry: mlir.ir.DialectRegistry) -> int:
    """mlir-lsp-server with the dialects of the registry."""

class Listing:
    def __init__(self, root: mlir.ir.Operation, through: Sequence[str], into: Sequence[str], apart: Sequence[str]) -> None: ...

    def operation(self, number: int) -> mlir.ir.Operation: ...

    def value(self, number: int) -> mlir.ir.Value: ...

    @property
    def values(self) -> int: ...

    def kinds(self) -> list: ...

    def ends(self) -> list: ...

    def examples(self) -> list: ...

    def results(self) -> list: ...

    def operands(self) -> list:
        """Per operation the numbers of its operands, -1 from outside."""

    def attributes(self, name: str) -> tuple:
        """
        (distinct attributes of a name, per operation the number of its own or -1).
        """

    def set_attributes(self, name: str, table: Sequence[mlir.ir.Attribute], choice: Sequence[int]) -> None:
        """Per operation the number of its attribute, -1: as it is."""

    def set_types(self, table: Sequence[mlir.ir.Type], values: Sequence[int], choice: Sequence[int]) -> None:
        """Gives each of these values the type of its number."""

    def launch(self, first: int, sources: Sequence[int], templates: Sequence[mlir.ir.Operation], chosen: Sequence[int], places: Sequence[mlir.ir.Attribute], placed: Sequence[int], before: mlir.ir.Operation, block: mlir.ir.Block) -> None:
        """
        Copies of SDSCs before `before`, named from @sdsc_<first> on, and their launches at the end of `block`.
        """

def prove(relation: str, lhs: str, rhs: str, ranges: Sequence[tuple[str, int | None, int | None]], nonnegative: Sequence[str]) -> tuple[str, dict[str, int], dict[str, int]]:
    """
    Whether an extent is always, never or sometimes 'equal' or 'less_equal' to another one: (verdict, witness, counterexample). Use it through spyre_mlir.prover.
    """
