# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The language server reports what the verifiers of the dialect say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SERVER = Path(sys.executable).parent / "spyre-lsp-server"


def message(**content: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **content}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def diagnostics(text: str) -> list[dict[str, Any]]:
    """What the server publishes for a document."""
    document = {"uri": "file:///test.mlir", "languageId": "mlir", "version": 1, "text": text}
    session = [
        message(id=1, method="initialize", params={"capabilities": {}, "rootUri": None}),
        message(method="textDocument/didOpen", params={"textDocument": document}),
        message(id=2, method="shutdown"),
        message(method="exit"),
    ]
    done = subprocess.run([SERVER], input=b"".join(session), capture_output=True, check=False)
    published = []
    for part in done.stdout.decode().split("Content-Length: ")[1:]:
        answer = json.loads(part.split("\r\n\r\n", 1)[1])
        if answer.get("method") == "textDocument/publishDiagnostics":
            published += answer["params"]["diagnostics"]
    return published


def test_a_good_document_has_no_diagnostics() -> None:
    assert diagnostics("func.func @f() {\n  return\n}\n") == []


def test_a_wrong_type_is_reported_where_it_stands() -> None:
    first, *_ = diagnostics("func.func @f(%a: tensor<4xf16, #spyre.nonsense>) {\n  return\n}\n")
    assert first["range"]["start"]["line"] == 0
    assert "nonsense" in first["message"]


def test_the_verifier_of_an_operation_speaks() -> None:
    text = (
        "func.func @f(%a: tensor<4xf16>, %b: tensor<8xf16>) {\n"
        "  %0 = spyre.add %a, %b : (tensor<4xf16>, tensor<8xf16>) -> tensor<4xf16>\n"
        "  return\n}\n"
    )
    first, *_ = diagnostics(text)
    assert first["range"]["start"]["line"] == 1
    assert first["severity"] == 1
