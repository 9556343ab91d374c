"""Grades how surely one line reports an error, by the levels of common loggers and by words in six languages; and knows
the forms of reports by compilers, linters, build tools and test runners: how a failure begins and ends, which of its
lines are most informative, and how a run is summed up.

A level says more than a word: `ERROR` of log4j, klog's `E1125`, pino's `"level":50`, `crit:` of .NET, the priority of
syslog, `[错误]`. A line with a harmless level is not an error, whatever its words are.

To add a tool, add a line to one of these tables and a log to the tests. Every pattern is linear: it begins with a
character, and its matches cannot be split in many ways.
"""

import re
from collections.abc import Sequence
from re import Pattern

# Grades of certainty that a block reports an error. An error that follows from another one says only that; a result
# sums up a run.
CERTAIN, LIKELY, POSSIBLE, FOLLOWS, RESULT = 4, 3, 2, 1, 0

# A line without any of them, in any case, and without the forms below reports nothing.
SIGNS = (
    *("error", "exception", "fail", "fatal", "panic", "traceback", "abort", "assert", "***", "fault", "killed", "crit"),
    *("denied", "refused", "not found", "cannot", "could not", "unable", "undefined", "err!", "severe", "invalid"),
    *("✗", "✘", "✖", "✕", "×", "●", "exit code", "exited with", "timed out", "timeout", "no such file", "sanitizer"),
    *("dumped", "out of memory", "** (", "bug: ", "oops: ", "went wrong", "___ ", "pass", "tests:", "test suites:"),
    *("test result", "tests run"),
    *("build success", "emerg", "alert", "terminate called", "finished:", "---- ", "ran ", "test summary"),
    *("not ok", "erro[", "fata[", "pani[", "ftl]", "err]", "|err", "runs, ", "examples, ", "tests, ", "total tests"),
    *("# pass", "result: ", "test files", "tests  ", "found ", "executed ", "priority=", "crash", "unavailable"),
    *("unreachable", "is down", "code=", "e: file:", "rspec ", " s = ", "====", "backoff", "evicted", "errimage"),
    *("exitcode", "exited (", "restarting (", "unhealthy", "notready", "degraded", "exceeded", "━━━", "doesn't exist"),
    *("in use", "no space", "segfault", "too quickly", "reset by", "broken pipe", "too many", "read-only", "deadlock"),
    *("_test.go:", "data race", "not permitted", "i/o", " [e]"),
    *("fehler", "fehlgeschlagen", "gescheitert", "ausnahme", "nicht", "schwerwiegend", "abgebrochen", "verweigert"),
    *("abgestürzt", "abgelehnt", "ungültig", "erreur", "échec", "échou", "impossible", "refus", "introuvable"),
    *("interrompu", "invalide", "fallo", "falló", "fallid", "fallaron", "excepci", "no se p", "denegad", "rechazad"),
    *("no encontrad", "inválid", "错误", "失败", "异常", "致命", "严重", "崩溃", "无法", "拒绝", "超时", "未找到"),
    *("錯誤", "失敗", "異常", "無法", "拒絕", "エラー", "例外", "できません", "拒否", "見つかりません"),
    *("タイムアウト", "強制終了"),
)

# Text that may hold a sign -> the pattern of that sign; the text is searched first, because that is much faster.
SIGNS_AFTER: dict[str, str] = {
    "level": r"\blevel\"?\s*[=:]\s*\"?[56]0\b",
    "severity": r"\bseverity\"?\s*[=:]\s*\"?[56]0\b",
    "http/": r"\bhttp/\S{0,80} \"?5\d\d\b",
    '" 5': r"\" 5\d\d ",
    "status": r"\bstatus\S{0,8}[=:]\s*\"?5\d\d\b",
    " e ": r"\d e [a-z][\w.-]* ?:",
    "e/": r"\be/\w",
    ":in ": r":\d+:in [`']",
    " line ": r" at \S+ line \d+\.$|file \"[^\"]+\", line \d+$",
}
# Signs at the beginning of a line.
SIGN_AT_START = re.compile(
    r"[ef]\d{4} \d\d:\d\d|<\d{1,3}>|\s*\d+\) \S|[a-z]{1,4}\d{3,4} |[^\s:]+\.\w+:\d+:\d+(?:[: ]|$)|[ef]: +\d"
    r"|(?:--|!) [a-z]|\S*lua[\d.]*: \S|(?:node:|file:|/|[a-z]:\\|\[eval)\S*:\d+$"
)

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
HARMLESS_LEVEL = re.compile(
    r".{0,80}?(?:\b(?:INFO|DEBUG|TRACE|NOTICE|VERBOSE|FINE)\b"
    r"|\t(?:info|debug)\t|^(?:info|dbug|trce): \S|\[(?:info|debug|trace|notice)\s*\]|^I\d{4} \d\d:\d\d"
    r"|\[(?:信息|调试|情報|デバッグ)\])"
)
_TOOL_FAILED = re.compile(r"\s*(?:\S+: )?(?:fatal|error): |ERROR: |\s*(?:ASSERT )?(?:FAILED|Failed|failed):? \S")
# of text in lower case, which is five times as fast as to ignore the case
_WORD = re.compile(
    r"(?<![\w./-])(?:errors?|fail(?:ed|ures?|s)?|fatal|exceptions?|panic(?:ked)?|abort(?:ed|ing)?|denied|refused|killed"
    r"|timed out|crash(?:ed)?|unavailable|unreachable|is down|code=(?:killed|dumped)|status=[1-9]\S*"
    r"|not found|no such file|cannot|could not|unable to|already in use|no space left|segfault|dumped core|deadlock"
    r"|watchdog timeout|repeated too quickly|reset by peer|broken pipe|too many open files|read-only file system"
    r"|not permitted|i/o error"
    r"|exit(?:ed)? (?:with )?(?:code|status) [1-9]\d*"
    r"|fehler|fehlgeschlagen|gescheitert|ausnahme|k(?:onn|a)nn?te? nicht|schwerwiegend\w*|abgebrochen|abgestürzt"
    r"|nicht gefunden|verweigert|abgelehnt|ungültig\w*|erreurs?|échec|échoué\w*|impossible de|refusée?|introuvable"
    r"|interrompue?|fallo|falló|fallid[oa]s?|fallaron|excepción|no se pud\w+|no se puede|denegad[oa]|rechazad[oa]"
    r"|no encontrad[oa]|fehlt|unerwartet\w*|inattendue?|manquante?|dépassé|agotad[oa]"
    r"|interrumpid[oa]|inesperad[oa])(?![\w/-]|\.\w|\(\)| v?\d+\.\d)"
    r"|\b[a-z]\w*(?:error|exception)\b(?=:)|[✕✗✘✖]|错误|失败|异常|致命|崩溃|无法|拒绝|超时|未找到|不存在|不足|中断|损坏|丢失|无效|断开"
    r"|錯誤|失敗|異常|無法|拒絕|エラー|例外|できません|拒否|見つかりません|タイムアウト|強制終了|破損|切断|無効|不正"
)
_SERVER_ERROR = re.compile(
    r"\bhttp/\d(?:\.\d)?\"? \"?5\d\d\b|\" 5\d\d (?:\d+|-)|\bstatus(?:_?code)?\"?\s*[=:]\s*\"?5\d\d\b"
)
_NEGATED = re.compile(
    r"\b(?:0|no|zero|without|keine?|aucune?|sin|0 个|0 件の)\s*(?:\w+\s+)?"
    r"(?:errors?|fail(?:ed|ures?)|exceptions?|fehler|erreurs?|errores|fallos?|错误|失败|エラー|失敗)"
    r"|\b(?:errors?|fail(?:ed|ures?)?|exceptions?|fehler|erreurs?)\"?\s*[:=]\s*(?:0\b|none\b|null\b|false\b|\[\]|\"\")"
    r"|(?:没有|无)(?:错误|异常|失败)|(?:エラー|失敗|例外)\s*+(?:なし|は?ありません|(?:[:：]\s*+)?0\b)"
    r"|\b(?:errors?|failures?)\s+0\b"
)
_NEGATIONS = (
    *("0", "no", "zero", "without", "null", "false", "[]", '""', "kein", "aucun", "sin"),
    *("没有", "无", "なし", "あり"),
)
_PASSES = ("PASS", "... ok", "✓", "✔", "ok ", "XFAIL", "SKIP", "Passed", "xfail", "skipped", "passed ")
_PASSED = re.compile(
    r"^=+ [A-Z]+ =+$|\b(?:PASS(?:ED)?|XFAIL|XPASS|SKIP(?:PED)?)\b|\.\.\. (?:ok|skipped\b.*|expected failure)$|[✓✔]"
    r"|^\s*(?:ok\s+\d|passed )|^\s*(?:ok|\?)\s+\S+\t|\bPassed\b|^not ok \d++.*# (?:TODO|SKIP)|\b(?:xfail|skipped)\b"
)
# A state that says why something does not run, as programs that list states print it.
_STATE = re.compile(
    r"\b(?:[A-Z]\w*BackOff|BackOff|OOMKilled|Evicted|ErrImage\w*|NotReady"
    r"|\w*Container\w*Error|Failed[A-Z][a-z]\w*|[A-Z_]+_FAILED)\b"
    r"|\bExited \([1-9]\d*\)|\bRestarting \(\d+\)|\(unhealthy\)|Active: failed"
    r"|(?i:\bexit[ _]?code\"?\s*[:=]\s*\"?[1-9])"
    r"|(?i:\b(?:reason|status|state|phase|result|health|conclusion|stop_?code)\"?\s*[:=]\s*\"?)"
    r"(?:(?:[Ff]ail(?:ed|ure)|FAIL(?:ED|URE)|[Ee]rror|ERROR|[Uu]nhealthy|[Dd]egraded|[Kk]illed|[Tt]imed_?out)\b"
    r"|[A-Z]\w*(?:Error|Failed|Failure|Killed|Exceeded|Unavailable)\b)"
)
# An error that says only that an earlier one came before it.
FOLLOWING = re.compile(
    r"current transaction (?:is aborted|cannot)|in the current transaction|InFailedSqlTransaction|PendingRollbackError"
    r"|\b(?:previous|earlier|preceding|prior|upstream)(?: \w+)? (?:errors?|exceptions?|fail(?:ures?|ed))\b"
    r"|Dependency failed for|dependency (?:\S+ )?(?:has )?failed|[Ss]kipp(?:ed|ing) .{0,80}\b(?:because|due to)\b"
)
# Notes of a compiler on what else it tried.
CANDIDATE = re.compile(r".*\bnote: (?:\s|candidate|template argument|no known conversion)")
_INSTALLED = re.compile(r"\s*(?:Compiling|Checking|Downloaded|Downloading|Installing|Unpacking|Setting up|Get:\d+) ")

# Parts of a line that show what it reports: a level, the field of a message, a word that reports an error.
DECIDES = re.compile(
    rf"{_LEVEL_FIELD.pattern}|(?i:\"?(?:msg|message|error|exception|err)\"?\s*[=:]\s*)|{_LEVEL.pattern}"
    rf"|(?i:{_WORD.pattern})"
)


def holds(text: str, words: Sequence[str]) -> bool:
    """Tells whether a text holds any of the words."""
    return any(map(text.__contains__, words))


def severity_of(text: str) -> int | None:
    """Returns LIKELY if a level reports an error, POSSIBLE if only words do, else None.

    >>> severity_of("E1125 10:00:41.000000       1 gateway.go:41] refused"), severity_of("build finished: 0 errors")
    (2, None)
    """
    if (priority := _PRIORITY.match(text)) is not None:
        text = text[priority.end() :]
        if int(priority[1]) % 8 <= 3:
            return LIKELY
    field = _LEVEL_FIELD.search(text) if "=" in text or ":" in text else None
    if field and _ERROR_FIELD.fullmatch(field[1]):
        return LIKELY
    if (field and _HARMLESS_FIELD.fullmatch(field[1])) or _INSTALLED.match(text):
        return None
    level = _TOOL_FAILED.match(text) or _LEVEL.search(text)
    harmless = HARMLESS_LEVEL.match(text, 0, level.start() if level else len(text))
    if level and not harmless:
        return LIKELY
    if harmless or ((text[:1] == "=" or holds(text, _PASSES)) and _PASSED.search(text)) or "warning: unused" in text:
        return None
    if _STATE.search(text):
        return LIKELY
    low = text.lower()
    says_error = _WORD.search(low) and not (holds(low, _NEGATIONS) and not _WORD.search(_NEGATED.sub("", low)))
    return POSSIBLE if says_error or _SERVER_ERROR.search(low) else None


# (style, grade, pattern of the line that begins a block): the first match counts.
STYLES: Sequence[tuple[str, int, str]] = (
    ("actions", LIKELY, r"##\[error\]|::error\b"),
    ("traceback", CERTAIN, r"\s*(?:\+ )?(?:Exception Group )?Traceback \(most recent call last\):"),
    ("pytest", CERTAIN, r"_{3,} .+ _{3,}$"),
    ("unittest", CERTAIN, r"(?:FAIL|ERROR): \S+ \(\S+\)"),
    ("jest", CERTAIN, r"\s*● (?!Console)|FAIL \S+\.\w+(?: \([\d.]+ m?s\))?$"),
    ("vitest", CERTAIN, r"\s*FAIL\s+.+ > .+|\s*FAIL\s+.+ \[ .+ \]$"),
    ("go test", CERTAIN, r"\s*--- FAIL: |=== FAIL: "),
    ("generic", LIKELY, r"\s+\S+_test\.go:\d+: .*\b(?:want|wanted|got|expected|should|mismatch|unexpected)\b"),
    ("race", CERTAIN, r"WARNING: DATA RACE"),
    ("prefixed", CERTAIN, r"INTERNALERROR> "),  # pytest
    ("rspec load", CERTAIN, r"An error occurred (?:while loading |in an? )"),
    ("test-unit", CERTAIN, r"(?:Failure|Error): \S+\(\S+\)"),
    ("panic", CERTAIN, r"(?:panic|fatal error): "),
    ("rust test", CERTAIN, r"---- .+ ----$"),
    ("dotnet", CERTAIN, r"\s+Failed \S.* \[[<\d][^\]]*\]$"),
    ("flutter", CERTAIN, r"══╡ EXCEPTION CAUGHT"),
    ("dart", CERTAIN, r"(?:\d\d:\d\d )?\+\d+ (?:~\d+ )?-\d+: .* \[E\]$"),
    ("tex", CERTAIN, r"! (?:(?:LaTeX|Package|Class) .{0,100}Error: |[A-Z].*\.$)"),
    ("sbt", CERTAIN, r"\[info\] .*\*\*\* FAILED \*\*\*"),
    ("line", LIKELY, r"\[xUnit\.net \S+\] +\S.* \[FAIL\]$"),
    ("ctest", CERTAIN, r"\s*\d+/\d+ Test +#\d+: .*\*\*\*"),
    ("tap", CERTAIN, r"\s*not ok \d+(?!.*# (?:TODO|SKIP))|\s*#\s+Failed test\b|✖ .+ \(\d[\d.]*ms\)$"),
    ("numbered", CERTAIN, r"\s*\d+\) \S"),  # mocha, RSpec, minitest, ExUnit, PHPUnit
    ("ruff", CERTAIN, r"[A-Z]{1,4}\d{3,4} (?:\[\*\] )?\S"),
    ("indented", CERTAIN, r"CMake Error"),
    ("biome", CERTAIN, r"\S+ \S+ ━{5,}"),
    ("framed", CERTAIN, r"\s*[×✖✘] \S"),  # oxlint
    ("elm", CERTAIN, r"-- [A-Z][A-Z ]+ -{3,}"),
    ("npm", LIKELY, r"(?:npm|pnpm|yarn) (?:ERR!|error) | ?ERR_PNPM_"),
    ("make", LIKELY, r"(?:\w+-)?(?:g?make|ninja)(?:\[\d+\])?: (?:\*\*\*|build stopped)|ninja: error"),
    ("gradle", CERTAIN, r"\* What went wrong:"),
    ("generic", CERTAIN, r"(?=.* > ).* FAILED$"),  # a test that Gradle ran
    ("box", CERTAIN, r"[│╷] ?(?:\S+ )?Error: "),  # Terraform
    ("eslint", CERTAIN, r"\s*\d+:\d+\s+(?:error\s|Error: )"),
    ("generic", CERTAIN, r"(?:FAIL|ERROR): //\S|ERROR: .+: .+ failed\b"),  # Bazel
    ("compiler", CERTAIN, r"\s*\S.{0,300}?[:(\[]\d+(?:[:,]\d+)?[\])]?:?\s*(?:- |: )?(?:fatal )?error\b"),
    ("compiler", CERTAIN, r"\s{0,4}error(?:\[E\d+\])?: (?!could not compile|aborting due)|e: \S+:\d+:\d+"),
    ("compiler", CERTAIN, r"(?:Type|Syntax|Parsing) error: |Module not found: |error during build:$"),  # Next, Vite
    ("placed", CERTAIN, r"\.{0,2}[\w@/][\w@./-]*\.\w+:\d+:\d+:?$"),  # Next: the place above the message
    ("compiler", CERTAIN, r"\S+\.go:\d+:\d+: \S|\S+:\d+:\d+: (?:[EF]|[A-Z]{2,4})\d{2,5}\b"),
    ("compiler", LIKELY, r"\S+:\d+:\d+: [A-Z]\d{2,5}\b"),
    ("compiler", CERTAIN, r"[EF]: +\d+: +\d+: |\[[A-Z_]+_ERROR\] "),  # RuboCop, Vite
    ("generic", CERTAIN, r"\S.{0,200}?:\d+:in [`'].+': .*\([A-Z]\w*(?:::\w+)*\)$"),  # Ruby
    ("generic", CERTAIN, r"\S*lua[\d.]*: \S+:\d+: |(?:PHP )?(?:Fatal|Parse) error: "),
    ("generic", CERTAIN, r"\*\* \((?:EXIT|[A-Z][\w.]*)\b.*\) \S"),
    ("generic", CERTAIN, r"Unhandled exception:|Execution error \(\w+\) at |ERROR in \./"),  # Dart, Clojure, webpack
    ("located", CERTAIN, r"(?:node:|file:|/|[A-Z]:\\|\[eval)\S*:\d+$|\s*File \"[^\"]+\", line \d+$"),  # Node, Python
    ("generic", CERTAIN, r"(?:watchdog: )?BUG: \S|Oops: |kernel BUG at |Kernel panic"),  # Linux
    ("words", POSSIBLE, r".{1,300} at \S+ line \d+\.$"),  # Perl, which warns in the same form
    ("java", CERTAIN, r"(?:Exception in thread \"[^\"]*\" )?(?:[A-Za-z_$][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error)\b"),
    ("java", CERTAIN, r"\s*(?:Uncaught |Unhandled exception\. )?[A-Z][A-Za-z.]*(?:Error|Exception)\b(?: \[\w+\])?: "),
    ("compiler", CERTAIN, r"\[ERROR\] \S+:\[\d+,\d+\]"),  # Maven
    ("generic", LIKELY, r"\[(?:ERROR|error)\] .*<<< (?:FAILURE|ERROR)!"),
    ("generic", LIKELY, r"\[(?:ERROR|error)\] \s*\S"),
)

# Styles whose blocks end before the next line that matches.
NEXT: dict[str, Pattern[str]] = {
    "race": re.compile(r"={10,}"),
    "go test": re.compile(r"=== |--- |FAIL\b|ok\s|PASS\b|panic: |exit status|\?\s|# |\S+:\d+:\d+: "),
    "rspec load": re.compile(r"An error occurred|Finished in|Run options|\d+ examples?|No examples"),
    "test-unit": re.compile(r"={20,}$"),
    "elm": re.compile(r"-- [A-Z][A-Z ]+ -{3,}|Detected \d|={5,}"),
    "pytest": re.compile(r"_{3,} .+ _{3,}$|={3,} .*===$|={3,}$"),
    "unittest": re.compile(r"={20,}$|Ran \d+ tests?"),
    "jest": re.compile(r"\s*● |(?:PASS|FAIL) |Test Suites:|Tests:|Summary of all"),
    "vitest": re.compile(r"⎯{3,}|\s*(?:FAIL|Test Files) "),
    "rust test": re.compile(r"---- .+ ----$|failures:$|test result:"),
    "dotnet": re.compile(r"\s*(?:Passed|Failed|Skipped)!? |Test Run |Total tests:|\[xUnit"),
    "flutter": re.compile(r"═{20,}$"),
    "sbt": re.compile(r"(?!\[info\] {3,})"),
    "ctest": re.compile(r"\s*(?:Start +\d+: |\d+/\d+ Test )|\d+% tests passed"),
    "numbered": re.compile(
        r"\s*\d+\) \S|\s*[✓✔]|\s*\d+ (?:passing|failing)|(?:FAILURES|ERRORS)!|--$|Finished in|\d+ \w+, \d+|Tests: "
        r"|rspec |Failed examples:|Top \d"
    ),
    "line": re.compile(""),
    "gradle": re.compile(r"\s*$"),
    "framed": re.compile(r"\S|\s*$"),
    "dart": re.compile(r"\S|\s*$"),
    "tex": re.compile(r"[?!()\[]|(?:Here is how|Output written|Overfull|Underfull|Package|LaTeX|The control)\b"),
    "box": re.compile("(?!│)"),
    "prefixed": re.compile("(?!INTERNALERROR>)"),
    **dict.fromkeys(("indented", "biome"), re.compile(r"(?! |\s*$)")),
}

# Styles whose blocks begin above the head, with the pattern of the lines there.
BEFORE: dict[str, Pattern[str]] = {
    "compiler": re.compile(
        r"In file included from |== \S.* ==$|\s+from \S.*[,:]$"
        r"|.*: In (?:instantiation|substitution) of |.* required (?:from|by)\b"
        r"|(?=\S*[/\\])[\w@.\\/-]+\.\w+(?::\d+){0,2}$"  # the place alone
        r"|\S.*: (?:In|At) (?:\w+ )*(?:function|constructor|destructor|scope|method)"
    ),
    "go test": re.compile(r"\s+\S+\.go:\d+: |\s{8,}\S"),
    "unittest": re.compile(r"={20,}$"),
    "test-unit": re.compile(r"={20,}$"),
    "eslint": re.compile(r"(?=\S*[/\\.])\S*$|\s+\d+:\d+\s+warning\s"),
}

# Lines that continue a block of any other style.
CONTINUED = re.compile(
    "|".join(
        (
            r"\s+\S|Caused by:|Suppressed: |\.{3} \d+ more|[\^~]|(?:>\s*+)?\d++\s*+[|│]|(?:\S+: )?(?:note|help): ",
            r"file: /|The conflict is caused by:",
            r"(?:LINE \d+|HINT|DETAIL|CONTEXT|STATEMENT|QUERY|WHERE): ",  # PostgreSQL
            r"\S+:\d+(?::\d+)?: note: |compilation terminated\.|\*\* \([A-Z]|\S+: line \d+: `",
            r"(?:[Ss]tack ?[Tt]race(?:back)?|[Ss]tack backtrace|Current stack trace|Require stack|Full report at):",
            r"#\d+ ++(?:0x|/|[A-Z]:\\|\{main\}|\[internal|.*\(\S{1,300}:\d+)|\d+ +\S+ +0x|\S+:\d+:\d+: 0x",  # frames
            r"  thrown in |Next \S+: |Did you mean\?|- /|[}\])]+[;,]?$|\(Use `node |Node\.js v\d|resolve '",
            r"BEGIN failed|Compilation failed in |Calls: |Execution halted|in expression starting at |\S+\.edn$",
            r"(?:Called from|Raised (?:at|by)|Re-raised at) |At .+:\d+ char:\d+$|\+ [ ~]",  # OCaml, PowerShell
            r"#PF: |PGD |Oops: |CPU: \d|Hardware name: |RIP: |(?:R[A-Z\d]{2}|CR\d|[C-F]S): +[\da-f]{4}|Call Trace:",
            r"Code: [\da-f]{2} |---\[ end trace",  # Linux
            r"\[ERROR\] *(?:$|To see the |Re-run Maven |For more information|After correcting|\[Help \d|mvn )",
        )
    )
)
CONTINUED_AFTER_BLANK = re.compile(
    r"Caused by:|The conflict is caused by:|Next \S+: |Node\.js v\d|Full report at:"
    r"|\s*+(?:>\s*+)?\d++\s*+[|│]|\s+[\w@.\\/-]+\.\w+:\d+(?::\d+)?:?$"
)
# The first line of a block whose message stands in the next line.
MESSAGE_BELOW = re.compile(
    r".*panicked at \S+:$|error during build:$|Unhandled exception:$|Execution error \(|ERROR in \./"
)
QUOTED = re.compile(r"\s*+(?:[|│╵·]\s*+)?(?:[\^~]+(?: |$)|─*┬)")  # the same, maybe behind a rule
FRAMED = re.compile(r"\s*[╭┌]─+ ?\[?\S+:\d|\s*[×✖✘] \S")  # the place or the message of an error in a frame
CAUSE = re.compile(r"\s*(?:Caused by:|---> |\[cause\]: )")  # begins the error that the errors above came from
UNDERLINE = re.compile(r"\+?\s*[\^~][\^~ ]*$")  # the line below a line of code that an error quotes

CRASHES = (
    *("segmentation fault", "core dumped", "terminate called", "undefined reference to", "panicked at"),
    *("out of memory", "double free", "stack overflow"),
)
CRASH = re.compile(r"\b\w+Sanitizer: |\A(?>.*?assertion ).*\bfailed\b", re.IGNORECASE)

# Matches a whole line that sums up a run.
SUMMARY = re.compile(
    "|".join(
        (
            r"=+ (?>.*?\b(?:passed|failed|errors?|no tests ran)\b).* in [\d.:]+.*|=+ short test summary info =+",
            r"(?:FAILED|ERROR) \S+\.py(?:::\S.*| - .*)?",  # pytest
            r"Ran \d+ tests? in .*|FAILED \((?:failures|errors)=.*",  # unittest
            r"Tests?:\s.*\d.*|\s*(?:Test Suites:|Test Files |Tests  ).*\d.*",  # Jest, Vitest, PHPUnit
            r"\s*\d+ (?:passing|failing)\b.*",  # mocha
            r"test result: .*|test .+ \.\.\. FAILED|error: (?:could not compile|aborting due).*",  # cargo
            r"FAIL(?:\s+\S+\s+(?:[\d.]+s|\(cached\)|\[.*\]))?",  # go test
            r"(?:\[\w+\] )?Tests run: \d+, Failures: \d++(?!.*<<<).*",  # Maven
            r"(?:\[INFO\] )?BUILD (?:FAIL|SUCCESS)\w*.*|FAILURE: Build failed.*|\d+ tests completed, \d+ failed.*",
            r"rspec \'?\./.*|\S+ = [\d.]+ s = [EF]",
            r"\d+ (?:examples?|runs?|tests?|doctests?), \d+ (?:failures?|assertions?|passed).*",  # RSpec, ExUnit
            r"(?:FAILURES|ERRORS)!|OK(?: \(.*\))?|PASS",  # PHPUnit, unittest, go test
            r"\d+ (?:features?|scenarios?|steps?) passed, .*|Failing scenarios:|\S+\.feature:\d+ .*",  # behave
            r"\S+\s+: ok=\d+ .*|\[info\] (?:Tests: |\*\*\* \d).*",  # Ansible, sbt
            r"\d+% tests passed.*|Errors while running CTest.*|The following tests FAILED:",  # CTest
            r"\s*(?:Failed|Passed)!\s+- .*|\s*Total tests: .*|Test Run (?:Failed|Successful)\..*",  # dotnet
            r"[#ℹ] (?:tests|pass|fail) \d+|Result: (?:PASS|FAIL)\w*|Failed \d+/\d+ .*|Failed Test .*",  # TAP
            r"\s*Executed \d+ .*|.*\bFAILED in [\d.]+s",  # Swift, Bazel
            r"✖ \d+ problems?.*|Found \d+ (?:error|issue).*|\d+ errors?, \d+ warnings?.*",  # linters
            r"\d+ (?:errors?|warnings?)\b.* generated\.",  # clang
            r"Failures \d+ errors?.*|Finished: [A-Z]+|(?:ERROR: )?Job (?:failed|succeeded)\b.*",  # Jenkins, GitLab
            r"(?:##\[error\]|Error: )?Process completed with exit code \d+\.?",  # GitHub Actions
        )
    )
)

OUTCOME = re.compile(r" (?:FAILED|ERROR)\s*\[ *\d+%\]$")  # the outcome of one test of pytest, after its name
# Parts of a result that report a failure.
RED = re.compile(
    r"\b[1-9]\d*(?: tests?)? (?:failed|failures?|errors?|failing|problems?)\b|FAIL|[#ℹ] fail [1-9]|exit code [1-9]"
    r"|(?<!expected )\b(?:Failures|Errors|failures|errors|Failed)[:=]\s*[1-9]|(?:failed|unreachable)=[1-9]|failed [1-9]"
    r"|Job failed|Failed!|Failed \d|Errors while|Failures \d|could not compile|aborting due| = [EF]$|^rspec "
)

# Parts of a result that report success.
GREEN = re.compile(
    r"passed|passing|\bok\b|OK \(|SUCCESS|PASS|\b0 (?:failed|failures|errors)|[#ℹ] fail 0|succeeded|Passed!|Successful"
    r"|Tests run: [1-9]"
)

# Lines of a block that tell what happened, or expected and actual values.
MESSAGE = re.compile(
    r"E\s{2,}\S|\s*Caused by: |.*panicked at|.*\bassertion failed\b|(?>.*?\bAssertion ).*failed\b|\s*Assert\."
    r"|\s*+(?:[-+]\s*+)?(?:Expected|Received|Actual|expected|actual|got|want|wanted|but was|left|right|lhs|rhs)\b"
    r"[^:=]{0,40}[:=(]|.*\b[A-Z]\w*(?:Exception|Error|Failure)\b ?[:(\[]|.*\bexpected\b|.*\bFailed asserting"
    r"|<.*>\.?$|.*\b(?:required from|requested) here|\s*#\s+(?:got|expected|Failed)"
    r"|\s*Failure/Error: |\s*[-+] +\S|\s*\S+\.go:\d+: |\s*not ok |.*\berror\b(?!s)"
)

# Lines that may tell what happened if no other line does.
HINT = re.compile(
    r"(?:LINE \d+|HINT|DETAIL|STATEMENT): |.*\b(?:[Ee]rror|[Ff]ail(?:ed|ure)|operator|code)\b|\s*[-+]\S|>\s{2,}\S"
)

# The end of a location in source code.
PLACE = re.compile(
    r"[\w+-]\.(?:py|[cm]?[jt]sx?|java|kts?|go|rs|rb|php|cs|exs?|c|cc|cpp|cxx|hh?|hpp|swift|scala|groovy|vue"
    r"|lua|pl|t|m|dart|elm|gleam|svelte|astro|html|s?css|erl|hs|ml|jl|zig|sql)(?:\"?,? line |[:(]|:line )\d+"
)

# Parts of a location that is not in own code.
LIBRARY = re.compile(
    r"/go/\d[\d.]*/|/libexec/src/|toolchain@|\borg\.(?:springframework|hibernate)\.|\b(?:io\.netty|reactor|kotlinx)\."
    r"|node_modules|site-packages|dist-packages|/usr/(?:local/)?(?:lib|share|include|go)|node:"
    r"|/rustc/|\.cargo|/pkg/mod/"
    r"|/vendor/|/gems/|<frozen|\b(?:java|javax|jdk|sun|scala|kotlin)\.|org\.(?:junit|apache|gradle|mockito|opentest4j"
    r"|assertj)|\b(?:Xunit|NUnit|System|Microsoft)\.|lib/(?:python|ruby|node)|unittest/|testing\.go|\((?:ex_unit|elixir"
    r"|stdlib)|/_pytest/|panic\.go|runtime/|core/src/|std/src/"
)
