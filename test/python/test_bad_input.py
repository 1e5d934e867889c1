# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad input, at every front: a message that says what and where, exit code not 0, no traceback, and nothing written."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from _spyre_tools import front_door
from spyre_mlir import compile, ir, passmanager
from spyre_mlir.compiler import Bundle
from spyre_mlir.diagnostics import Refusal

BIN = Path(sys.executable).parent
EXAMPLE = Path(__file__).parents[2] / "examples" / "add.mlir"
TENSOR = "tensor<4x64xf16>"


def binary(type: str) -> str:
    """A function that adds two tensors of a type."""
    return (
        f"func.func @f(%x: {type}, %y: {type}) -> {type} {{\n"
        f"  %0 = spyre.add %x, %y : ({type}, {type}) -> {type}\n  return %0 : {type}\n}}\n"
    )


def laid(sizes: str, strides: str) -> str:
    """A function of tensors with a layout."""
    layout = f"#spyre.encoding<layout = #spyre.layout<{sizes} : {strides}>>"
    return binary(f"tensor<4x64xf16, {layout}>")


def body(text: str, more: str = "") -> str:
    """A function of two tensors around some operations; `more` arguments."""
    return (
        f"func.func @f(%x: {TENSOR}, %y: {TENSOR}{more}) -> {TENSOR} {{\n"
        f"  {text}\n  return %x : {TENSOR}\n}}\n"
    )


def loop(low: str, high: str, step: str, carried: str = "%x", type: str = TENSOR) -> str:
    """A function with a loop that does nothing."""
    return body(
        f"%l = arith.constant {low} : index\n  %h = arith.constant {high} : index\n"
        f"  %s = arith.constant {step} : index\n"
        f"  %r = scf.for %i = %l to %h step %s iter_args(%a = {carried}) -> {type} {{\n"
        f"    scf.yield %a : {type}\n  }}"
    )


MALFORMED: dict[str, tuple[str | bytes, str]] = {
    "text": ("func.func @f(", ":1:13: "),
    "a name": (b"func.func @\xff\xfe() { return }", ":1:12: "),
    "no MLIR": ('{"a": 1}', ":1:1: "),
    "a byte order mark": (b"\xef\xbb\xbfmodule {}", ":1:1: unexpected character"),
    "bytecode": (b"ML\xefR" + bytes(range(256)), "bytecode version"),
    "cut bytecode": (b"ML\xefR", "end of the bytecode"),
    "an unknown operation": (
        body("%0 = spyre.nonsense %x"),
        "custom op 'spyre.nonsense' is unknown",
    ),
    "a foreign dialect": (body('"foo.bar"() : () -> ()'), "an unregistered dialect"),
    "a layout of two ranks": (laid("[1, 4, 64]", "[64, 1]"), "SPY001: device_size has 3 entries"),
    "an empty layout": (laid("[]", "[]"), "SPY001: a layout needs at least the stick dim"),
    "a size of 0": (laid("[0, 4, 64]", "[64, 64, 1]"), "SPY001: device_size[0] is 0"),
    "a size below 0": (laid("[-1, 4, 64]", "[64, 64, 1]"), "SPY001: device_size[0] is -1"),
    "a size of 2^63 - 1": (
        laid("[9223372036854775807, 4, 64]", "[64, 64, 1]"),
        "more than 2^63 bytes",
    ),
    "a size of 2^63": (
        laid("[9223372036854775808, 4, 64]", "[64, 64, 1]"),
        "integer value too large",
    ),
    "a stride of 0": (laid("[1, 4, 64]", "[0, 64, 1]"), "SPY001: stride_map[0] is 0"),
    "a stick of 32": (laid("[1, 4, 32]", "[64, 64, 1]"), "SPY007: operand #0: the last device dim"),
    "a layout that is too small": (laid("[1, 2, 64]", "[64, 64, 1]"), "holds 128 elements"),
    "a valid region outside": (
        binary("tensor<4x64xf16, #spyre.encoding<valid_shape = [9, 64]>>"),
        "SPY008: operand #0: valid_shape[0] is 9, more than the 4 elements",
    ),
    "a dynamic shape": (binary("tensor<?x64xf16>"), "operand #0 must be"),
    "no rank": (binary("tensor<*xf16>"), "operand #0 must be"),
    "f64": (binary("tensor<4x64xf64>"), "operand #0 must be"),
    "two of a name": (binary(TENSOR) * 2, ":5:1: redefinition of symbol named 'f'"),
}
"""What is refused while it is read: at every front in the same way."""

REFUSED: dict[str, tuple[str, str]] = {
    "nothing": ("", "SPY095: there is nothing to compile"),
    "an empty module": ("module {}", "SPY095: there is nothing to compile"),
    "a declaration": (f"func.func private @f({TENSOR})", "SPY095: there is nothing to compile"),
    "no operation": ("func.func @f() { return }", "SPY095: there is nothing to compile"),
    "two functions": (binary(TENSOR) + binary(TENSOR).replace("@f", "@g"), ":5:1: SPY095: "),
    "a nested module": (
        f"module {{ module {{ {binary(TENSOR)} }} }}",
        "SPY100: 'builtin.module' is not compiled",
    ),
    "an operation beside": ("%c = arith.constant 0 : index", ":1:6: SPY100: 'arith.constant'"),
    "arith": (body(f"%0 = arith.addf %x, %y : {TENSOR}"), ":2:8: SPY100: 'arith.addf'"),
    "a computed scalar": (
        body("%0 = arith.addf %s, %s : f16", ", %s: f16"),
        "SPY100: 'arith.addf'",
    ),
    "data": (body(f"%0 = arith.constant dense<1.0> : {TENSOR}"), "SPY100: a bundle holds no data"),
    "a call": (
        body(f"%0 = call @f(%x, %y) : ({TENSOR}, {TENSOR}) -> {TENSOR}"),
        ":2:8: SPY100: 'func.call' is not compiled",
    ),
    "an effect": (
        body(
            "%c = arith.constant 0 : index\n  memref.dealloc %m : memref<4xf32>",
            ", %m: memref<4xf32>",
        ),
        "SPY100: argument #2 has type memref<4xf32>",
    ),
    "blocks": (body("cf.br ^b\n^b:"), ":1:1: SPY100: the function has 2 blocks"),
    "a loop of no trips": (loop("4", "0", "1"), ":5:8: SPY162: a loop of 0 trips"),
    "a step of 0": (loop("0", "4", "0"), ":5:8: SPY162: a loop of 0 trips"),
    "65536 trips": (loop("0", "65536", "1"), ":5:8: SPY162: a loop of 65536 trips"),
    "2^64 trips": (
        loop("-9223372036854775808", "9223372036854775807", "1"),
        ":5:8: SPY162: a loop of 18446744073709551615 trips",
    ),
    "a carried index": (loop("0", "4", "1", "%l", "index"), "SPY100: value #0 that is carried"),
    "an open bound": (
        body("scf.for %i = %n to %n step %n {\n  }", ", %n: index"),
        ":2:3: SPY021: a loop bound or offset is not a constant",
    ),
    "a returned scalar": (
        "func.func @f(%s: f16) -> f16 {\n  return %s : f16\n}",
        ":2:3: SPY100: value #0 that is returned has type f16",
    ),
    "an unused f64": (body("", ", %z: tensor<4xf64>"), "no elements of type f64"),
    "another encoding": (body("", ", %z: tensor<4xf16, 7 : i32>"), "is #spyre.encoding"),
    "rank 7": (binary("tensor<2x2x2x2x2x2x64xf16>"), "SPY027: a layout holds at most 6 host dims"),
    "a dim of 0": (binary("tensor<0x64xf16>"), "SPY027: shape [0, 64]"),
    "2^63 elements": (binary("tensor<4611686018427387904x4x64xf16>"), "SPY027: a tensor of"),
    "2^40 rows": (binary("tensor<1099511627776x64xf16>"), ":2:8: SPY040: "),
}
"""What is read, and refused by the passes."""


def message_of(captured: str) -> str:
    """What was told, which must not speak of Python."""
    for word in ("Traceback", "fault of spyre-mlir", "Error:", "assert", ".py:"):
        assert word not in captured
    assert captured.strip()
    return captured


def output(command: str, folder: Path) -> list[str | Path]:
    """The words that say where to write, for a command that writes."""
    return [] if command == "explain" else ["-o", folder / "out"]


def spyre(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    """Runs `spyre`, which must refuse; what it says."""
    code = front_door.main([str(word) for word in words])
    assert code in (1, 2)
    return message_of(capsys.readouterr().err)


@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.parametrize("command", ["compile", "run", "explain"])
def test_malformed_files(
    name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, message = MALFORMED[name]
    file = tmp_path / "a.mlir"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    told = spyre(capsys, command, file, *output(command, tmp_path))
    assert message in told
    assert "a.mlir:" in told
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    "name", [name for name, (text, _) in MALFORMED.items() if "code" not in name]
)
def test_malformed_input_in_python(name: str) -> None:
    text, message = MALFORMED[name]
    with pytest.raises(ir.MLIRError) as caught:
        compile(text)
    assert message in "; ".join(
        f":{d.location.start_line}:{d.location.start_col}: {d.message}"
        for d in caught.value.error_diagnostics
    )


@pytest.mark.parametrize("name", REFUSED)
def test_refused_programs(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, message = REFUSED[name]
    file = tmp_path / "a.mlir"
    file.write_text(text)
    assert message in spyre(capsys, "compile", file, "-o", tmp_path / "out")
    assert list(tmp_path.iterdir()) == [file]


def test_the_optimizer_tells_the_same(tmp_path: Path) -> None:
    """One process for all of them: `--split-input-file` goes on after an error."""
    programs = {**MALFORMED, **REFUSED}
    texts = {
        name: (text, message)
        for name, (text, message) in programs.items()
        if isinstance(text, str) and "nothing to" not in message
    }
    file, output = tmp_path / "a.mlir", tmp_path / "b.mlir"
    file.write_text("\n// -----\n".join(text for text, _ in texts.values()))
    done = subprocess.run(
        [BIN / "spyre-opt", file, "--split-input-file", "--spyre-to-sdsc", "-o", output],
        capture_output=True,
        check=False,
        text=True,
    )
    told = message_of(done.stderr.replace("Error:", "error:"))
    assert done.returncode == 1
    assert not output.exists()
    for _, message in texts.values():
        assert message.lstrip(":0123456789 ") in told, message


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("cores=0", "option 'cores' is 0; it must be from 1 to 32"),
        ("cores=-1", "option 'cores' is -1"),
        ("cores=1000000000", "option 'cores' is 1000000000"),
        ("cores=9223372036854775808", "'9223372036854775808' is not an integer of 64 bits"),
        ("cores=x", "'x' is not an integer"),
        ("span-limit=0", "option 'span-limit' is 0; it must be from 1 to 268431360"),
        (
            "span-limit=268431361",
            "option 'span-limit' is 268431361; it must be from 1 to 268431360",
        ),
        ("span-limit=-9223372036854775808", "option 'span-limit' is -9223372036854775808"),
        ("plan=perhaps", "'perhaps' is neither true nor false"),
        ("core=1", "no such option core"),
    ],
)
def test_options_of_the_pipeline(option: str, message: str) -> None:
    with ir.Context(), pytest.raises(ValueError, match="option") as caught:
        passmanager.PassManager.parse(f"builtin.module(spyre-to-sdsc{{{option}}})")
    assert message in message_of(str(caught.value))


@pytest.mark.parametrize(
    "pipeline",
    [
        "",
        "builtin.module(",
        "builtin.module(no-such-pass)",
        "builtin.module(spyre-tile)",
        "func.func(spyre-to-sdsc)",
        "builtin.module(spyre-to-sdsc{)",
        "builtin.module(,)",
        "builtin.module(" * 2000,
    ],
)
def test_pipelines_that_are_none(pipeline: str) -> None:
    with ir.Context(), pytest.raises(ValueError, match=r"\w") as caught:
        passmanager.PassManager.parse(pipeline)
    message_of(str(caught.value))


def test_options_in_python() -> None:
    for name, value in (("cores", 0), ("cores", 33), ("span_limit", -5)):
        with pytest.raises(ValueError, match=f"'{name.replace('_', '-')}' is {value}"):
            compile(EXAMPLE, **{name: value})  # type: ignore[arg-type]
    with pytest.raises(Refusal, match="SPY095"):
        compile("")
    with pytest.raises(FileNotFoundError):
        compile(Path("no-such.mlir"))
    with pytest.raises(IsADirectoryError):
        compile(Path("/"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cores", "0"], "'0' is no whole number from 1 on"),
        (["--cores", "x"], "'x' is no whole number"),
        (["--cores", "-1"], "'-1' is no whole number"),
        (["--cores", "33"], "'cores' is 33; it must be from 1 to 32"),
        (["--cores", "9" * 30], "is no whole number"),
        (["--span-limit", "0"], "'0' is no whole number"),
        (["--span-limit", "1.5"], "'1.5' is no whole number"),
        (
            ["--span-limit", "268431361"],
            "'span-limit' is 268431361; it must be from 1 to 268431360",
        ),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        (["--format", "xml"], "invalid choice: 'xml'"),
    ],
)
def test_words_of_compile(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in spyre(capsys, "compile", EXAMPLE, "-o", tmp_path / "out", *words)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["compile", "run", "specs", "explain"])
def test_files_that_cannot_be_read(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing, out = tmp_path / "missing", output(command, tmp_path)
    assert f"{missing}: No such file" in spyre(capsys, command, missing, *out)
    assert f"{tmp_path}: Is a directory" in spyre(capsys, command, tmp_path, *out)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xff\xfe", "a: byte 0 is not UTF-8"),
        (b"", "SPY094: "),
        (b"[]", "a holds no operation"),
        (b"[1", "SPY094: not JSON"),
        (b"[" * 100_000, "SPY094: not JSON"),
        (b"[{}]", "SPY094: $[0]: key 'iteration_space' is missing"),
        (b"OpSpec(", "SPY094: line 1"),
    ],
)
def test_op_specs(
    text: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_bytes(text)
    assert message in spyre(capsys, "specs", tmp_path / "a", "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_standard_input_that_is_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for command, message in (
        ("compile", "-:1:1"),
        ("explain", "-:1:1"),
        ("run", "-:1:1"),
        ("specs", "byte 0 is not UTF-8"),
    ):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"\xff\xfe")))
        assert message in spyre(capsys, command, "-", *output(command, tmp_path))
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------------------ folders


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return compile(EXAMPLE, cores=4)


def test_folders_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    told = spyre(capsys, "compile", EXAMPLE, "-o", file)
    assert f"SPY170: {file} is no folder" in told
    assert f"{file}/a: Not a directory" in spyre(capsys, "compile", EXAMPLE, "-o", file / "a")
    assert "/proc/a: " in spyre(capsys, "compile", EXAMPLE, "-o", "/proc/a")
    assert "has no name" in spyre(capsys, "compile", EXAMPLE, "-o", "")
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_text() == "mine"


def test_folders_of_others(
    bundle: Bundle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle.write(tmp_path / "a")
    before = {file.name: file.read_bytes() for file in (tmp_path / "a").iterdir()}
    told = spyre(capsys, "compile", EXAMPLE, "-o", tmp_path / "a", "--cores", "8")
    assert f"SPY170: {tmp_path / 'a'} holds a bundle already" in told
    assert {file.name: file.read_bytes() for file in (tmp_path / "a").iterdir()} == before
    (tmp_path / "a" / "mine").touch()
    for words in ([], ["--replace"]):
        told = spyre(capsys, "compile", EXAMPLE, "-o", tmp_path / "a", *words)
        assert "holds 'mine', which is no part of a bundle" in told
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("bundle.mlir", None, "bundle.mlir: SPY150: is missing"),
        ("bundle.mlir", b"\xff", "bundle.mlir: SPY150: cannot be read"),
        ("bundle.mlir", b"module {}", "bundle.mlir:1:9: SPY151"),
        ("sdsc_0.json", None, "sdsc_0.json: SPY150: is missing"),
        ("sdsc_0.json", b"", "sdsc_0.json: SPY150: is no JSON"),
        ("sdsc_0.json", b"\xff\xfe\0", "sdsc_0.json: SPY150: cannot be read"),
        ("sdsc_0.json", b"[" * 100_000, "sdsc_0.json: SPY150: is no JSON"),
        ("sdsc_0.json", b"[]", "sdsc_0.json:$: SPY152"),
        ("sdsc_0.json", b"NaN", "SPY150: is no JSON: NaN"),
    ],
)
def test_bundles_that_are_none(
    file: str,
    content: bytes | None,
    message: str,
    bundle: Bundle,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bundle.write(tmp_path / "a")
    if content is None:
        (tmp_path / "a" / file).unlink()
    else:
        (tmp_path / "a" / file).write_bytes(content)
    assert front_door.main(["validate", str(tmp_path / "a")]) == 1
    assert message in message_of(capsys.readouterr().out)


@pytest.mark.parametrize("folder", ["missing", "file"])
def test_validate_without_a_folder(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert front_door.main(["validate", str(tmp_path / folder)]) == 1
    assert f"{tmp_path / folder}: SPY150: cannot be read" in message_of(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--function", "g"], "SPY137: there is no function @g"),
        (["--symbol", "n=x"], "SPY134: --symbol 'n=x'"),
        (["--symbol", "n=1"], "SPY134: @f has no argument for the symbol n"),
        (["--input", str(EXAMPLE)], "is no .npy file of numbers"),
        (["--seed", "x"], "'x' is no whole number from 0 on"),
        (["-o", "/"], "is no name of a file"),
        (["-o", "/proc/a.npy"], "/proc/a.npy: "),
        (["-o", str(EXAMPLE / "a.npy")], "a.npy: Not a directory"),
    ],
)
def test_words_of_run(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.mlir").write_text(binary(TENSOR))
    assert message in spyre(capsys, "run", tmp_path / "a.mlir", *words)


def test_functions_of_several_blocks_do_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.mlir").write_text(body("cf.br ^b\n^b:"))
    assert "SPY136: a function of 2 blocks" in spyre(capsys, "run", tmp_path / "a.mlir")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams(closed: str, tmp_path: Path) -> None:
    """The files that are written get numbers of their own, and nothing is told into them."""
    whole = f"'{BIN / 'spyre'}' compile '{EXAMPLE}' --cores 4 -o '{tmp_path / 'a'}' {closed}"
    done = subprocess.run(["sh", "-c", whole], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert front_door.main(["validate", str(tmp_path / "a")]) == 0


@pytest.mark.parametrize("command", ["spyre doctor", "spyre-opt"])
def test_full_disks(command: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f"'{BIN}'/{command} </dev/null >/dev/full"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 1
    assert "No space left on device" in message_of(done.stderr)
