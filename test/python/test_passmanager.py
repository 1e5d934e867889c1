# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes written in Python, run through MLIR's own pass manager."""

from __future__ import annotations

import gc
import re
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spyre_mlir import ir, passmanager, registry
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.passmanager import (
    Pass,
    PassManager,
    apply,
    option,
    register,
    schema_of,
    spell,
)

EXAMPLES = Path(__file__).parents[1] / "bridge" / "Inputs" / "example_passes.py"


@pytest.fixture(scope="session")
def examples() -> ModuleType:
    """The passes of test/bridge, registered."""
    sys.path.append(str(EXAMPLES.parent))
    registry.load_module("example_passes")
    return sys.modules["example_passes"]


def functions(count: int) -> str:
    body = "%0 = arith.constant 1 : i32 return"
    return "\n".join(f"func.func @f{i}() {{ {body} }}" for i in range(count))


def tags(module: ir.Module) -> list[str]:
    return [op.attributes["tag"].value for op in module.body]


# ------------------------------------------------------------------------------ options


def test_pipeline_text_parses_back_to_itself(examples: ModuleType) -> None:
    text = (
        "builtin.module(func.func(test-tag{label=a times=3 sizes={} words={x,y}},cse),test-twice)"
    )
    with ir.Context():
        manager = PassManager.parse(text)
        assert "label=a" in str(manager)
        assert str(PassManager.parse(str(manager))) == str(manager)


LABELS = st.text(st.characters(codec="utf-8", exclude_characters="{}\"'\0"), max_size=8)
LABELS = LABELS.filter(lambda text: text == text.strip() and "\\" not in text)


@given(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.booleans(),
    st.lists(st.integers(-5, 5)),
    LABELS,
    st.lists(LABELS.filter(bool), max_size=3),
)
def test_every_option_value_survives_its_text(
    times: int, scale: float, shout: bool, sizes: list[int], label: str, words: list[str]
) -> None:
    registry.load_module("example_passes")
    examples = sys.modules["example_passes"]
    given = examples.TagFunctions(
        label=label,
        times=times,
        scale=scale,
        shout=shout,
        mood="tense",
        shade=examples.Shade.VERY_DARK,
        sizes=tuple(sizes),
        words=tuple(words),
    )
    seen: list[Pass] = []
    with ir.Context(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(examples.TagFunctions, "run", lambda self, op: seen.append(self))
        module = ir.Module.parse("func.func @f() { return }")
        first = PassManager.parse(f"builtin.module(func.func({given}))")
        first.run(module.operation)
        PassManager.parse(str(first)).run(module.operation)
    assert seen == [given, given]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("times=abc", "option 'times': 'abc' is not an integer of 64 bits"),
        ("times=9223372036854775808", "is not an integer of 64 bits"),
        ("times", "'' is not an integer"),
        ("scale=x", "option 'scale': 'x' is not a number"),
        ("shout=perhaps", "'perhaps' is neither true nor false"),
        ("mood=angry", "option 'mood': 'angry' is not one of calm, tense"),
        ("shade=dark", "'dark' is not one of light, very-dark"),
        ("sizes={1,x}", "option 'sizes': 'x' is not an integer"),
        ("colour=red", "no such option colour"),
    ],
)
def test_a_wrong_option_is_an_error_of_the_parser(
    examples: ModuleType, options: str, message: str
) -> None:
    with ir.Context(), pytest.raises(ValueError, match=message):
        PassManager.parse(f"builtin.module(func.func(test-tag{{{options}}}))")


def test_a_pass_can_check_its_options(examples: ModuleType) -> None:
    with ir.Context(), pytest.raises(ValueError, match="test-check: option 'even' is 3"):
        PassManager.parse("builtin.module(test-check{even=3})")


def test_a_value_that_no_text_can_hold_is_refused(examples: ModuleType) -> None:
    with pytest.raises(ValueError, match="no pipeline text can hold"):
        str(examples.TagFunctions(label="a } b"))


def test_spelling_nests_passes_in_their_anchors(examples: ModuleType) -> None:
    tag, check = examples.TagFunctions(times=2), examples.CheckOptions()
    assert (
        spell([tag, "cse", check, "test-tag"])
        == "func.func(test-tag{times=2},cse,test-check,test-tag)"
    )
    assert spell([tag, "cse"], root="func.func") == "test-tag{times=2},cse"
    assert spell(["canonicalize", tag]) == "canonicalize,func.func(test-tag{times=2})"
    assert spell([examples.TagTwice(), tag]) == "test-twice,func.func(test-tag{times=2})"
    assert spell(["func.func(cse)", "cse"]) == "func.func(cse),cse"


# ------------------------------------------------------------------------------ registration


def test_schema_says_what_the_class_says(examples: ModuleType) -> None:
    schema = schema_of(examples.TagFunctions)
    assert schema.argument == "test-tag"
    assert schema.description == "Writes the options on every function and its arithmetic"
    assert schema.options[0] == ("label", "text of the tag", "string", False, ("none",))
    assert schema.options[-2] == ("sizes", "some sizes", "int", True, ("1", "2"))
    assert schema.statistics == (
        ("tagged", "operations tagged"),
        ("functions", "functions seen"),
    )
    assert type(schema).from_plain(schema.plain()) == schema


def test_registering_again_has_no_effect(examples: ModuleType) -> None:
    register(examples.TagFunctions)


def test_a_name_belongs_to_one_pass(examples: ModuleType) -> None:
    @dataclass(frozen=True)
    class Other(Pass, name="test-tag"):
        """Takes a name that is taken."""

    with pytest.raises(ValueError, match="the name test-tag belongs to example_passes"):
        register(Other)


@dataclass(frozen=True)
class NamedAsUpstream(Pass, name="canonicalize"):
    """Has the name of a pass of MLIR."""


@dataclass(frozen=True)
class UnknownDialect(Pass, name="test-unknown-dialect", dependent_dialects=("nothing",)):
    """Depends on a dialect that does not exist."""


@dataclass(frozen=True)
class ComplexOption(Pass, name="test-complex-option"):
    """Has an option of a type that options cannot have."""

    value: complex = option(1j, help="a value")


@dataclass(frozen=True)
class Undocumented(Pass, name="test-undocumented"):
    value: int = option(1, help="a value")


@pytest.mark.parametrize(
    ("cls", "error", "message"),
    [
        (NamedAsUpstream, ValueError, "MLIR has a pass named canonicalize"),
        (UnknownDialect, ValueError, "there is no dialect nothing"),
        (ComplexOption, TypeError, "complex.* cannot be an option"),
        (Undocumented, TypeError, "has no docstring"),
    ],
)
def test_a_wrong_class_is_not_registered(
    cls: type[Pass], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        register(cls)


def test_passes_of_other_packages_are_found_by_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "foreign_passes.py").write_text(
        EXAMPLES.read_text().replace('"test-', '"foreign-').replace('"tags"', '"foreign tags"')
    )
    info = tmp_path / "foreign-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[spyre_mlir.passes]\nall = foreign_passes\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "_entry_points_are_loaded", False)
    with ir.Context():
        PassManager.parse("builtin.module(cse)")
        assert "foreign_passes" not in sys.modules
        PassManager.parse("builtin.module(func.func(foreign-tag))")
        assert "foreign_passes" in sys.modules


# ------------------------------------------------------------------------------ running


def test_apply_runs_passes_in_order(examples: ModuleType) -> None:
    with ir.Context():
        module = ir.Module.parse(functions(2))
        apply(module, examples.TagFunctions(label="a"), "canonicalize", examples.TagTwice())
        assert tags(module) == ["nonenone", "nonenone"]
        apply(module.body.operations[0], examples.TagFunctions(label="b", shout=True))
        assert tags(module) == ["B", "nonenone"]


@pytest.mark.parametrize("threads", [False, True])
def test_thousand_functions(examples: ModuleType, threads: bool) -> None:
    with ir.Context() as context:
        context.enable_multithreading(threads)
        module = ir.Module.parse(functions(1000))
        manager = PassManager.parse(
            "builtin.module(func.func(test-tag{label=x},canonicalize,cse,test-tag{label=y}))"
        )
        manager.run(module.operation)
        assert tags(module) == ["y"] * 1000


def test_several_threads_and_contexts(examples: ModuleType) -> None:
    failures: list[BaseException] = []

    def work(context: ir.Context) -> None:
        try:
            for _ in range(5):
                with context, ir.Location.unknown():
                    module = ir.Module.parse(functions(20))
                    apply(module, examples.TagFunctions(), "cse", examples.TagFunctions())
                    assert tags(module) == ["none"] * 20
                    with pytest.raises(ir.MLIRError, match="it went wrong"):
                        apply(module, examples.RaiseError())
        except BaseException as error:
            failures.append(error)

    shared = ir.Context()
    contexts = [shared, shared, ir.Context(), ir.Context()]
    workers = [threading.Thread(target=work, args=(context,)) for context in contexts]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


@register
@dataclass(frozen=True)
class RunInside(Pass, name="test-run-inside", anchor="func.func"):
    """Runs another pass manager, as passes may."""

    inner: str = option("cse", help="the pass to run")

    def run(self, op: ir.Operation) -> None:
        PassManager.parse(f"func.func({self.inner})").run(op)


def test_pass_managers_nest(examples: ModuleType) -> None:
    with ir.Context():
        module = ir.Module.parse(functions(50))
        apply(module, RunInside(inner="test-tag"))
        assert tags(module) == ["none"] * 50
        with pytest.raises(ir.MLIRError) as caught:
            apply(module, RunInside(inner="test-refuse"))
    first = caught.value.error_diagnostics[0]
    assert first.message.startswith("test-run-inside: MLIRError: Failure while executing")
    assert first.notes[0].message.startswith("SPY200")


def test_threads_that_would_wait_for_the_lock_are_refused(examples: ModuleType) -> None:
    with ir.Context():
        module = ir.Module.parse(functions(100))
        manager = PassManager.parse("builtin.module(func.func(test-tag))")
        try:
            passmanager._stock_run(manager, module.operation)
        except ir.MLIRError as error:
            assert "written in Python and cannot run on another thread" in str(error)
        # However it ended, the context is as good as before.
        manager.run(module.operation)
        assert tags(module) == ["none"] * 100


def test_dependent_dialects_are_loaded(examples: ModuleType) -> None:
    with ir.Context() as context:
        module = ir.Module.parse("func.func @f() { return }")
        apply(module, examples.MakeTensors())
        assert "tensor.empty() : tensor<4xf16>" in str(module)
        assert context.dialects["tensor"]


def test_statistics_count(examples: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    with ir.Context():
        module = ir.Module.parse(functions(30))
        manager = PassManager.parse("builtin.module(func.func(test-tag))")
        manager.enable_statistics()
        manager.run(module.operation)
        del manager
        gc.collect()
    examples.TagFunctions().tagged.add()  # outside of a run: no effect
    text = capfd.readouterr().err
    assert re.search(r"\(S\) 30 functions +- functions seen", text)
    assert re.search(r"\(S\) 30 tagged +- operations tagged", text)


# ------------------------------------------------------------------------------ errors


def test_an_exception_is_an_error_at_the_operation(examples: ModuleType) -> None:
    with ir.Context():
        module = ir.Module.parse(functions(1))
        with pytest.raises(ir.MLIRError) as caught:
            apply(module, examples.RaiseError(kind="key"))
    (error,) = caught.value.error_diagnostics
    assert error.severity == ir.DiagnosticSeverity.ERROR
    assert error.message.startswith("test-raise: KeyError: 'it went wrong' (")
    assert "example_passes.py:" in error.message


def test_what_mlir_said_inside_a_pass_becomes_notes(examples: ModuleType) -> None:
    with ir.Context():
        module = ir.Module.parse(functions(1))
        with pytest.raises(ir.MLIRError) as caught:
            apply(module, examples.RaiseError(kind="mlir"))
    (error,) = caught.value.error_diagnostics
    assert "MLIRError: Unable to parse module assembly" in error.message
    assert any("expected" in note.message for note in error.notes)


def test_a_refusal_keeps_its_places_notes_and_remedy(examples: ModuleType) -> None:
    with ir.Context():
        module = ir.Module.parse("func.func @f() {\n  return\n}")
        with pytest.raises(ir.MLIRError) as caught:
            apply(module, examples.RefuseAll())
    (error,) = caught.value.error_diagnostics
    assert error.message == "SPY200: 12 bytes are more than 8 bytes"
    assert ":2:" in str(error.location)
    assert [note.message for note in error.notes] == [
        "the 12 bytes come from here",
        "and a note without a place",
        "remedy: use 8 bytes",
    ]


def test_a_pass_that_comes_too_early_names_the_one_to_run_first(examples: ModuleType) -> None:
    with ir.Context():
        module = ir.Module.parse(functions(1))
        with pytest.raises(ir.MLIRError, match="SPY200: test-read-tags needs tags") as caught:
            apply(module, examples.ReadTags())
        assert "remedy: run test-tag first" in str(caught.value)
        apply(module, examples.TagFunctions(), examples.ReadTags())
        untouched = ir.Module.parse("func.func @f() { return }")
        apply(untouched, examples.ReadTags())


def test_errors_of_thousand_functions_come_in_order(examples: ModuleType) -> None:
    with ir.Context():
        module = ir.Module.parse(functions(100))
        with pytest.raises(ir.MLIRError) as caught:
            apply(module, examples.RefuseAll())
    places = [str(error.location) for error in caught.value.error_diagnostics]
    assert len(places) > 1
    assert places == sorted(places, key=lambda text: int(text.split(":")[1]))


def test_errors_go_to_the_handlers_that_ask_for_them(examples: ModuleType) -> None:
    with ir.Context() as context:
        module = ir.Module.parse(functions(2))
        seen: list[str] = []

        def handle(diagnostic: ir.Diagnostic) -> bool:
            seen.append(str(diagnostic))
            return True

        handler = context.attach_diagnostic_handler(handle)
        context.emit_error_diagnostics = True
        with pytest.raises(ir.MLIRError):
            apply(module, examples.RefuseAll())
        handler.detach()
    assert any("12 bytes" in text for text in seen)


def test_passes_can_be_run_as_plain_objects(examples: ModuleType) -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(functions(1))
        examples.TagFunctions(label="direct").run(module.body.operations[0].operation)
        assert tags(module) == ["direct"]
        with pytest.raises(Refusal):
            examples.RefuseAll().run(module.body.operations[0].operation)
