"""Grades how surely one line reports an error, by the levels of common loggers and by words in six languages.

A level says more than a word: `ERROR` of log4j, klog's `E1125`, pino's `"level":50`, `crit:` of .NET, the priority of
syslog, `[错误]`. A line with a harmless level is not an error, whatever its words are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

CERTAIN, LIKELY, POSSIBLE, RESULT = 3, 2, 1, 0
"""Grades of certainty that a block reports an error; a result sums up a run."""

SIGNS = (
    *("error", "exception", "fail", "fatal", "panic", "traceback", "abort", "assert", "***", "fault", "killed", "crit"),
    *("denied", "refused", "not found", "cannot", "could not", "unable", "undefined", "err!", "severe", "invalid"),
    *("✗", "✘", "✖", "✕", "×", "●", "exit code", "exited with", "timed out", "timeout", "no such file", "sanitizer"),
    *("dumped", "out of memory", "went wrong", "___ ", "pass", "tests:", "test suites:", "test result", "tests run"),
    *("build success", "emerg", "alert", "terminate called", "finished:", "---- ", "ran ", "test summary"),
    *("not ok", "erro[", "fata[", "pani[", "ftl]", "err]", "|err", "runs, ", "examples, ", "tests, ", "total tests"),
    *(
        "# pass",
        "result: ",
        "test files",
        "tests  ",
        "found ",
        "executed ",
        "priority=",
        "crash",
        "unavailable",
        "unreachable",
        "is down",
        "code=",
        "e: file:",
        "rspec ",
        " s = ",
        "====",
    ),
    *("fehler", "fehlgeschlagen", "gescheitert", "ausnahme", "nicht", "schwerwiegend", "abgebrochen", "verweigert"),
    *("abgestürzt", "abgelehnt", "ungültig", "erreur", "échec", "échou", "impossible", "refus", "introuvable"),
    *("interrompu", "invalide", "fallo", "falló", "fallid", "fallaron", "excepci", "no se p", "denegad", "rechazad"),
    *(
        "no encontrad",
        "inválid",
        "错误",
        "失败",
        "异常",
        "致命",
        "严重",
        "崩溃",
        "无法",
        "拒绝",
        "超时",
        "未找到",
        "錯誤",
    ),
    *(
        "失敗",
        "異常",
        "無法",
        "拒絕",
        "エラー",
        "例外",
        "できません",
        "拒否",
        "見つかりません",
        "タイムアウト",
        "強制終了",
    ),
)
"""A line without any of them, in any case, and without the forms below reports nothing."""

SIGNS_AFTER: dict[str, str] = {
    "level": r"\blevel\"?\s*[=:]\s*\"?[56]0\b",
    "severity": r"\bseverity\"?\s*[=:]\s*\"?[56]0\b",
    "http/": r"\bhttp/\S* \"?5\d\d\b",
    '" 5': r"\" 5\d\d ",
    "status": r"\bstatus\S{0,8}[=:]\s*\"?5\d\d\b",
    " e ": r"\d e [a-z][\w.-]* ?:",
    "e/": r"\be/\w",
}
"""Text that may hold a sign -> the pattern of that sign; the text is searched first, because that is much faster."""
SIGN_AT_START = re.compile(
    r"[ef]\d{4} \d\d:\d\d|<\d{1,3}>|\s*\d+\) \S|[a-z]{1,4}\d{3,4} |[^\s:]+\.\w+:\d+:\d+[: ]|[ef]: +\d"
)
"""Signs at the beginning of a line."""

_ERROR_LEVEL = r"(?:error|err|fatal|critical|crit|panic|dpanic|emerg|emergency|alert|severe)"
_LEVEL_FIELD = re.compile(r"(?i:\b(?:level|levelname|log[._]?level|severity|lvl|@l)\"?\s*[=:]\s*\"?(\w+))")
_ERROR_FIELD = re.compile(rf"{_ERROR_LEVEL}|[56]0", re.IGNORECASE)
_HARMLESS_FIELD = re.compile(r"info(?:rmation)?|debug|trace|verbose|notice|[123]0", re.IGNORECASE)
_LEVEL = re.compile(
    r"(?:^|[\s\[<|(\"=:])(?:ERROR|ERR|FTL|FATAL|CRITICAL|CRIT|SEVERE|PANIC|EMERG|EMERGENCY|ALERT)(?=[\s\]>|):,\"/]|$)"
    rf"|\bPRIORITY=[0-3]\b|\[(?:[\w.-]+:)?{_ERROR_LEVEL}\s*\]|\t{_ERROR_LEVEL}\t|^(?:crit|fail): \S"
    r"|^(?:ERRO|FATA|PANI)\["
    r"|\b[EF]\d{4} \d\d:\d\d:\d\d|(?:^|\s)[EF]/\w|\s\d+\s+[EF] \w[\w.-]* ?: "
    r"|[\[【(<|](?:错误|錯誤|严重|嚴重|致命|エラー|致命的|FEHLER|Fehler|KRITISCH|ERREUR|Erreur|CRITIQUE|CRÍTICO|FALLO)[\]】)>|]"
    r"|(?:^|\s)(?:错误|錯誤|致命错误|エラー|Fehler|FEHLER|Erreur|ERREUR|Échec|Fallo)\s*[:\uff1a]"
)
_PRIORITY = re.compile(r"<(\d{1,3})>")  # of syslog: facility * 8 + severity
_HARMLESS_LEVEL = re.compile(
    r".{0,80}?(?:\b(?:INFO|DEBUG|TRACE|NOTICE|VERBOSE|FINE)\b"
    r"|\t(?:info|debug)\t|^(?:info|dbug|trce): \S|\[(?:info|debug|trace|notice)\s*\]|^I\d{4} \d\d:\d\d"
    r"|\[(?:信息|调试|情報|デバッグ)\])"
)
_TOOL_FAILED = re.compile(r"\s*(?:\S+: )?(?:fatal|error): |ERROR: |\s*(?:ASSERT )?(?:FAILED|Failed|failed):? \S")
_WORD = re.compile(
    r"(?<![\w./-])(?:errors?|fail(?:ed|ures?|s)?|fatal|exceptions?|panic(?:ked)?|abort(?:ed|ing)?|denied|refused|killed"
    r"|timed out|crash(?:ed)?|unavailable|unreachable|is down|code=(?:killed|dumped)|status=[1-9]\d*\S*"
    r"|not found|no such file|cannot|could not|unable to"
    r"|exit(?:ed)? (?:with )?(?:code|status) [1-9]\d*"
    r"|fehler|fehlgeschlagen|gescheitert|ausnahme|k(?:onn|a)nn?te? nicht|schwerwiegend\w*|abgebrochen|abgestürzt"
    r"|nicht gefunden|verweigert|abgelehnt|ungültig\w*|erreurs?|échec|échoué\w*|impossible de|refusée?|introuvable"
    r"|interrompue?|fallo|falló|fallid[oa]s?|fallaron|excepción|no se pud\w+|no se puede|denegad[oa]|rechazad[oa]"
    r"|no encontrad[oa]|fehlt|unerwartet\w*|inattendue?|manquante?|dépassé|agotad[oa]"
    r"|interrumpid[oa]|inesperad[oa])(?![\w/-]|\.\w|\(\)| v?\d+\.\d)"
    r"|\b[a-z]\w*(?:error|exception)\b(?=:)|[✕✗✘✖]|错误|失败|异常|致命|崩溃|无法|拒绝|超时|未找到|不存在|不足|中断|损坏|丢失|无效|断开"
    r"|錯誤|失敗|異常|無法|拒絕|エラー|例外|できません|拒否|見つかりません|タイムアウト|強制終了|破損|切断|無効|不正",
    re.IGNORECASE,
)
_SERVER_ERROR = re.compile(
    r"\bHTTP/\d(?:\.\d)?\"? \"?5\d\d\b|\" 5\d\d (?:\d+|-)|\bstatus(?:_?code)?\"?\s*[=:]\s*\"?5\d\d\b", re.IGNORECASE
)
_NEGATED = re.compile(
    r"\b(?:0|no|zero|without|keine?|aucune?|sin|0 个|0 件の)\s*(?:\w+\s+)?"
    r"(?:errors?|fail(?:ed|ures?)|exceptions?|fehler|erreurs?|errores|fallos?|错误|失败|エラー|失敗)"
    r"|\b(?:errors?|fail(?:ed|ures?)?|exceptions?|fehler|erreurs?)\"?\s*[:=]\s*(?:0\b|none\b|null\b|false\b|\[\]|\"\")"
    r"|(?:没有|无)(?:错误|异常|失败)|(?:エラー|失敗|例外)\s*(?:なし|は?ありません|[:：]?\s*0\b)"
    r"|\b(?:errors?|failures?)\s+0\b",
    re.IGNORECASE,
)
_NEGATIONS = (
    "0",
    "no",
    "zero",
    "without",
    "null",
    "false",
    "[]",
    '""',
    "kein",
    "aucun",
    "sin",
    "没有",
    "无",
    "なし",
    "あり",
)
_PASSES = ("PASS", "... ok", "✓", "✔", "= ", "ok ", "XFAIL", "SKIP", "Passed", "xfail", "skipped", "passed ")
_PASSED = re.compile(
    r"^=+ [A-Z]+ =+$|\b(?:PASS(?:ED)?|XFAIL|XPASS|SKIP(?:PED)?)\b|\.\.\. (?:ok|skipped\b.*|expected failure)$|[✓✔]"
    r"|^\s*(?:ok\s+\d|passed )|^\s*(?:ok|\?)\s+\S+\t|\bPassed\b|^not ok \d+.*# (?:TODO|SKIP)|\b(?:xfail|skipped)\b"
)
_INSTALLED = re.compile(r"\s*(?:Compiling|Checking|Downloaded|Downloading|Installing|Unpacking|Setting up|Get:\d+) ")


DECIDES = re.compile(
    rf"{_LEVEL_FIELD.pattern}|(?i:\"?(?:msg|message|error|exception|err)\"?\s*[=:]\s*)|{_LEVEL.pattern}"
    rf"|(?i:{_WORD.pattern})"
)
"""Parts of a line that show what it reports: a level, the field of a message, a word that reports an error."""


def holds(text: str, words: Sequence[str]) -> bool:
    """Tells whether a text holds any of the words."""
    return any(map(text.__contains__, words))


def severity_of(text: str) -> int | None:
    """Returns LIKELY if a level reports an error, POSSIBLE if only words do, else None.

    >>> severity_of("E1125 10:00:41.000000       1 gateway.go:41] refused"), severity_of("build finished: 0 errors")
    (2, None)
    """
    priority = _PRIORITY.match(text)
    if priority is not None:
        text = text[priority.end() :]
        if int(priority[1]) % 8 <= 3:
            return LIKELY
    field = _LEVEL_FIELD.search(text)
    if field and _ERROR_FIELD.fullmatch(field[1]):
        return LIKELY
    harmless = _HARMLESS_LEVEL.match(text)
    if (field and _HARMLESS_FIELD.fullmatch(field[1])) or _INSTALLED.match(text):
        return None
    level = _TOOL_FAILED.match(text) or _LEVEL.search(text)
    if level and not (harmless and harmless.end() <= level.start()):
        return LIKELY
    if harmless or (holds(text, _PASSES) and _PASSED.search(text)):
        return None
    if "warning: unused" in text:
        return None
    low = text.lower()
    if _WORD.search(_NEGATED.sub("", text) if holds(low, _NEGATIONS) else text) or _SERVER_ERROR.search(text):
        return POSSIBLE
    return None
