"""Levels of common loggers, and words for an error in six languages."""

from __future__ import annotations

import pytest
from secateur.kinds.log.levels import LIKELY, POSSIBLE, severity_of

BY_LEVEL = [
    "E1125 10:00:41.000000       1 gateway.go:41] the card was refused",
    "F1125 10:00:41.000000       1 main.go:12] no configuration",
    '{"level":50,"time":1700000000000,"pid":7,"msg":"the card was refused"}',
    '{"name":"shop","level":60,"msg":"no configuration","v":0}',
    "fail: Shop.Gateway[0]",
    "crit: Microsoft.AspNetCore.Server.Kestrel[0]",
    "<11>May  1 12:00:00 shop gateway[7]: the card was refused",
    "2026-05-01 12:00:00,123 ERROR [main] com.acme.Gateway - the card was refused",
    '{"level":"error","ts":1700000000.1,"caller":"gateway.go:41","msg":"the card was refused"}',
    "2026-05-01T12:00:00.123Z\terror\tgateway/gateway.go:41\tthe card was refused",
    "2026-05-01 12:00:00 [error    ] the card was refused          order=17",
    'time="2026-05-01T12:00:00Z" level=error msg="the card was refused"',
    "ERRO[0001] the card was refused",
    "[12:00:00 ERR] the card was refused",
    "2026/05/01 12:00:00 [crit] 7#7: *1 connect() to unix:/run/shop.sock",
    "05-01 12:00:00.123  1234  1234 E Gateway : the card was refused",
    '{"severity":"ERROR","message":"the card was refused"}',
    "ERROR:root:the card was refused",
    "2026-05-01 10:00:41 [错误] 支付网关拒绝了银行卡",
    "2026-05-01 10:00:41 【エラー】 カードが使えません",
    "FEHLER: die Karte ist abgelaufen",
    "Erreur : la carte a expiré",
]
BY_WORDS = [
    "支付失败:余额不足",
    "注文を処理できませんでした",
    "Die Verbindung zum Gateway ist fehlgeschlagen",
    "Datei config.toml nicht gefunden",
    "la connexion au serveur a échoué",
    "no se pudo abrir el archivo",
    '10.0.0.7 - - [01/May/2026:12:00:00 +0000] "POST /refund HTTP/1.1" 502 157',
    "the connection was refused",
]
HARMLESS = [
    "I1125 10:00:41.000000       1 gateway.go:41] the last request failed, as it should",
    '{"level":30,"msg":"1 error was mended"}',
    "info: Shop.Gateway[0]",
    "<14>May  1 12:00:00 shop gateway[7]: no errors",
    "2026-05-01 12:00:00 [info     ] the error was mended",
    '10.0.0.7 - - [01/May/2026:12:00:00 +0000] "GET /errors HTTP/1.1" 200 5021',
    "aucune erreur",
    "0 Fehler, 2 Warnungen",
    "没有错误",
    "tests/test_a.py::test_b XFAIL (it failed before)",
    "not ok 3 - later # TODO",
    "Unpacking libtry-tiny-perl (0.31-2) over a failed one",
]


@pytest.mark.parametrize("line", BY_LEVEL)
def test_a_level_says_that_a_line_reports_an_error(line: str) -> None:
    assert severity_of(line) == LIKELY


@pytest.mark.parametrize("line", BY_WORDS)
def test_words_say_that_a_line_may_report_an_error(line: str) -> None:
    assert severity_of(line) == POSSIBLE


@pytest.mark.parametrize("line", HARMLESS)
def test_a_line_that_reports_no_error_is_none_whatever_its_words_are(line: str) -> None:
    assert severity_of(line) is None
