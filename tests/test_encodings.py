"""Bytes of every encoding that people have become the text that they are, and broken ones stay broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur.encodings import as_utf8
from support.cli import secateur
from support.repos import write

SOURCE = """def settle(order, amount):
    # {}
    if amount < 0:
        raise ValueError("{}")
    return round(amount * 8 / 100)
"""

FOREIGN = [
    ("gb18030", "退款金额四舍五入到分", "金额不能为负数"),
    ("gbk", "计算订单的总价", "错误"),
    ("gbk", "注释", "x"),
    ("gbk", "用户登录", "密码错误"),
    ("big5", "退款金額四捨五入到分", "金額不能為負數"),
    ("shift_jis", "返金額を四捨五入する", "金額が負です"),
    ("euc_jp", "注文の合計を計算する", "エラー"),
    ("euc_kr", "환불 금액을 반올림한다", "금액이 음수입니다"),
    ("euc_kr", "초기화", "x"),
    ("latin-1", "arrondit le montant remboursé à l'unité", "montant négatif"),
    ("latin-1", "Rückerstattung für Kunden prüfen", "ungültiger Betrag"),
    ("latin-1", "é", "x"),
    ("latin-1", "© 2010 Müller", "30 °C"),
    ("cp1252", "arrondit le montant – à l’unité", "Preis in €"),
    ("cp1251", "округляет сумму возврата до копеек", "отрицательная сумма"),
    ("koi8-r", "округляет сумму возврата до копеек", "отрицательная сумма"),
    ("utf-16-le", "退款金额四舍五入到分", "x"),
    ("utf-16-be", "plain", "x"),
    ("utf-16", "退款", "x"),
    ("utf-32", "退款", "x"),
]


@pytest.mark.parametrize(("encoding", "comment", "message"), FOREIGN)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_encodings_are_told_by_the_look_of_a_text(encoding: str, comment: str, message: str, line_end: str) -> None:
    text = SOURCE.format(comment, message).replace("\n", line_end)
    read = as_utf8(text.encode(encoding))
    assert read.decode() == text
    assert as_utf8(read) is read


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("iso8859-2", "#!/usr/bin/python\n# -*- coding: iso-8859-2 -*-\n# zaokrouhlí částku vrácení\n"),
        ("euc_jp", "# -*- coding: euc-jp-unix -*-\n# 注\n"),
        ("cp1253", '<?xml version="1.0" encoding="windows-1253"?>\n<a>ποσό</a>\n'),
        ("iso8859-7", '<html><head>\n<meta charset="iso-8859-7">\n<p>ποσό\n'),
        ("big5", '<meta http-equiv="Content-Type" content="text/html; charset=big5">\n<p>金\n'),
        ("iso8859-9", '@charset "iso-8859-9";\na { content: "ışık" }\n'),
        ("gbk", '"Content-Type: text/plain; charset=GB2312\\n"\nmsgstr "镕"\n'),
        ("iso8859-2", "\\usepackage[latin2]{inputenc}\nčástku\n"),
        ("cp1257", "# ąžuolas\nx = 1\n# vim: set fileencoding=cp1257 :\n"),
        ("cp1255", "/* שלום */\n/* Local Variables:\n   coding: windows-1255\n   End: */\n"),
    ],
)
def test_declared_encodings_are_read(encoding: str, text: str) -> None:
    assert as_utf8(text.encode(encoding)).decode() == text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"plain \x1b[31m",
        "déjà vu".encode(),
        "# coding: gbk\n# 退款\n".encode(),  # it says so, and is UTF-8
        "退款金额".encode() + b"\xff\n",
        "退款金额".encode()[:-1],
        b"a\xff\xfeb",
        b"# coding: punycode\n\xff\n",
        b"# coding: no-such\n\xff\n",
        b"\x7fELF\0\1\0\2\xff\xfe",
        bytes(range(256)) * 4,
    ],
)
def test_everything_else_stays_as_it_is(data: bytes) -> None:
    assert as_utf8(data) is data


def test_bytes_that_a_declared_encoding_lacks_stay() -> None:
    assert as_utf8(b"# coding: gbk\n# \xcd\xcb\xbf\xee \xff\n") == "# coding: gbk\n# 退款 ".encode() + b"\xff\n"


def test_broken_units_of_wide_texts_are_broken_bytes() -> None:
    assert as_utf8(b"\xff\xfea\0\x00\xd8b\0") == b"a\xffb"


def test_each_file_of_a_diff_has_its_own_encoding() -> None:
    parts = [
        f"diff --git a/{name} b/{name}\n@@ -1 +1 @@\n-# {old}\n+# {new}\n".encode(encoding)
        for name, encoding, old, new in (
            ("a.py", "gbk", "计算订单的总价", "用户登录"),
            ("b.py", "utf-8", "退款金额四舍五入到分" * 20, "é"),
            ("c.py", "latin-1", "für", "arrondit le montant remboursé"),
        )
    ]
    assert as_utf8(b"".join(parts)).decode() == (
        b"".join(parts[1:2]).decode().join((parts[0].decode("gbk"), parts[2].decode("latin-1")))
    )


@pytest.mark.parametrize("name", ["a.py", "a.md", "a.xml"])
@pytest.mark.parametrize("line_end", ["\r\n", "\r\r\n", "\r"])
def test_no_carriage_return_leaves_with_a_fragment(name: str, line_end: str, tmp_path: Path) -> None:
    texts = {
        "a.py": "def settle_invoice():\n    return 1\n\n\ndef other():\n    return settle_invoice()\n",
        "a.md": "# Settle\n\nHow to settle an invoice.\n\n# Other\n\nText.\n",
        "a.xml": "<a>\n  <settle>invoice</settle>\n</a>\n",
    }
    root = write(tmp_path / "shop", {name: texts[name].replace("\n", line_end).encode()})
    out = secateur("search", "settle invoice", root, "--format", "markdown").out
    assert "ettle" in out
    assert "\u240d" not in out and "\r" not in out
    plain = write(tmp_path / "plain", {name: texts[name]})
    assert out == secateur("search", "settle invoice", plain, "--format", "markdown").out


@pytest.mark.parametrize(
    ("encoding", "head", "text"),
    [
        ("gbk", "# coding: gbk\n", "退款金额四舍五入"),
        ("shift_jis", "", "返金額を四捨五入する"),
        ("euc_kr", "", "환불 금액을 반올림한다"),
        ("latin-1", "", "arrondit le montant remboursé"),
        ("utf-16-le", "", "退款金额四舍五入"),
    ],
)
def test_every_kind_reads_other_encodings(encoding: str, head: str, text: str, tmp_path: Path) -> None:
    source = f"{head}def refund_order(order):\n    # {text}\n    return order\n"
    root = write(tmp_path / "shop", {"refund.py": source.encode(encoding)})
    assert text in secateur("search", text, root, "--format", "markdown").out
    assert text in secateur("files", root / "refund.py", "--query", "refund", "--format", "markdown").out
    (tmp_path / "ci.log").write_bytes(f"start\nERROR {text}\nend\n".encode(encoding))
    assert text in secateur("log", tmp_path / "ci.log", "--format", "plain").out
    if "16" not in encoding:  # binary to git
        diff = "".join(f"+{line}\n" for line in source.splitlines())
        diff = f"diff --git a/r.py b/r.py\n--- /dev/null\n+++ b/r.py\n@@ -0,0 +1,{diff.count(chr(10))} @@\n{diff}"
        (tmp_path / "a.diff").write_bytes(diff.encode(encoding))
        assert text in secateur("chunk", "--diff", tmp_path / "a.diff", "--format", "json").json["chunks"][0]["text"]


def test_an_answer_names_files_of_no_known_encoding(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", {"a.py": b"def settle():\n    return '\xff\xfe\xff'\n"})
    codes = [notice["code"] for notice in secateur("search", "settle", root, "--format", "json").json["warnings"]]
    assert "invalid_utf8" in codes
    assert "a.py" in secateur("status", root).out
