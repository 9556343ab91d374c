"""The forms of reports by compilers, linters, build tools and test runners: how a failure begins and ends, which of its
lines are most informative, and how a run is summed up.

To add a tool, add a line to one of these tables and a log to the tests. Every pattern is linear: it begins with a
character, and its matches cannot be split in many ways.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from re import Pattern

from secateur.kinds.log.levels import CERTAIN, LIKELY

STYLES: Sequence[tuple[str, int, str]] = (
    ("actions", LIKELY, r"##\[error\]|::error\b"),
    ("traceback", CERTAIN, r"\s*(?:\+ )?(?:Exception Group )?Traceback \(most recent call last\):"),
    ("pytest", CERTAIN, r"_{3,} .+ _{3,}$"),
    ("unittest", CERTAIN, r"(?:FAIL|ERROR): \S+ \(\S+\)"),
    ("jest", CERTAIN, r"\s*● (?!Console)|FAIL \S+\.\w+(?: \([\d.]+ m?s\))?$"),
    ("vitest", CERTAIN, r"\s*FAIL\s+.+ > .+|\s*FAIL\s+.+ \[ .+ \]$"),
    ("go test", CERTAIN, r"\s*--- FAIL: |=== FAIL: "),
    ("panic", CERTAIN, r"(?:panic|fatal error): "),
    ("rust test", CERTAIN, r"---- .+ ----$"),
    ("dotnet", CERTAIN, r"\s+Failed \S.* \[[<\d][^\]]*\]$"),
    ("flutter", CERTAIN, r"══╡ EXCEPTION CAUGHT"),
    ("line", CERTAIN, r"\d\d:\d\d \+\d+.* -\d+: .* \[E\]$"),  # Dart
    ("sbt", CERTAIN, r"\[info\] .*\*\*\* FAILED \*\*\*"),
    ("line", LIKELY, r"\[xUnit\.net \S+\] +\S.* \[FAIL\]$"),
    ("ctest", CERTAIN, r"\s*\d+/\d+ Test +#\d+: .*\*\*\*"),
    ("tap", CERTAIN, r"\s*not ok \d+(?!.*# (?:TODO|SKIP))|\s*#\s+Failed test\b|✖ .+ \(\d[\d.]*ms\)$"),
    ("numbered", CERTAIN, r"\s*\d+\) \S"),  # mocha, RSpec, minitest, ExUnit, PHPUnit
    ("ruff", CERTAIN, r"[A-Z]{1,4}\d{3,4} (?:\[\*\] )?\S"),
    ("cmake", CERTAIN, r"CMake Error"),
    ("npm", LIKELY, r"(?:npm|pnpm|yarn) (?:ERR!|error) | ?ERR_PNPM_"),
    ("make", LIKELY, r"(?:\w+-)?(?:g?make|ninja)(?:\[\d+\])?: (?:\*\*\*|build stopped)|ninja: error"),
    ("gradle", CERTAIN, r"\* What went wrong:"),
    ("generic", CERTAIN, r"(?=.* > ).* FAILED$"),  # a test that Gradle ran
    ("box", CERTAIN, r"[│╷] ?(?:\S+ )?Error: "),  # Terraform
    ("eslint", CERTAIN, r"\s+\d+:\d+\s+error\s"),
    ("generic", CERTAIN, r"(?:FAIL|ERROR): //\S|ERROR: .+: .+ failed\b"),  # Bazel
    ("compiler", CERTAIN, r"\s*\S.{0,300}?[:(\[]\d+(?:[:,]\d+)?[\])]?:?\s*(?:- |: )?(?:fatal )?error\b"),
    ("compiler", CERTAIN, r"error(?:\[E\d+\])?: (?!could not compile|aborting due)|e: \S+:\d+:\d+"),
    ("compiler", CERTAIN, r"\S+\.go:\d+:\d+: \S|\S+:\d+:\d+: (?:[EF]|[A-Z]{2,4})\d{2,5}\b"),
    ("compiler", LIKELY, r"\S+:\d+:\d+: [A-Z]\d{2,5}\b"),
    ("compiler", CERTAIN, r"[EF]: +\d+: +\d+: |\[[A-Z_]+_ERROR\] "),  # RuboCop, Vite
    ("java", CERTAIN, r"(?:Exception in thread \"[^\"]*\" )?(?:[A-Za-z_$][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error)\b"),
    ("java", CERTAIN, r"\s*(?:Uncaught |Unhandled exception\. )?[A-Z][A-Za-z.]*(?:Error|Exception)\b(?: \[\w+\])?: "),
    ("compiler", CERTAIN, r"\[ERROR\] \S+:\[\d+,\d+\]"),  # Maven
    ("generic", LIKELY, r"\[(?:ERROR|error)\] .*<<< (?:FAILURE|ERROR)!"),
    ("generic", LIKELY, r"\[(?:ERROR|error)\] \s*\S"),
)
"""(style, grade, pattern of the line that begins a block): the first match counts."""

NEXT: dict[str, Pattern[str]] = {
    "pytest": re.compile(r"_{3,} .+ _{3,}$|={3,} .*={3,}$|={3,}$"),
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
}
"""Styles whose blocks end before the next line that matches."""

BEFORE: dict[str, Pattern[str]] = {
    "compiler": re.compile(
        r"In file included from |== \S.* ==$|\s+from \S.*[,:]$"
        r"|\S.*: (?:In|At) (?:\w+ )*(?:function|constructor|destructor|scope|method)"
    ),
    "go test": re.compile(r"\s+\S+\.go:\d+: |\s{8,}\S"),
    "unittest": re.compile(r"={20,}$"),
    "eslint": re.compile(r"\S*[/\\.]\S*$|\s+\d+:\d+\s+warning\s"),
}
"""Styles whose blocks begin above the head, with the pattern of the lines there."""

CONTINUED = re.compile(
    r"\s+\S|Caused by: |Suppressed: |\.{3} \d+ more|[\^~]|\d+\s*\||(?:\S+: )?(?:note|help): |\S+:\d+(?::\d+)?: note: "
)
"""Lines that continue a block of any other style."""

CRASHES = (
    *("segmentation fault", "core dumped", "terminate called", "undefined reference to", "panicked at"),
    *("out of memory", "double free", "stack overflow"),
)
CRASH = re.compile(r"\b\w+Sanitizer: |assertion .*\bfailed\b", re.IGNORECASE)

SUMMARY = re.compile(
    "|".join(
        (
            r"=+ .*\b(?:passed|failed|errors?|no tests ran)\b.* in [\d.:]+.*|=+ short test summary info =+",  # pytest
            r"(?:FAILED|ERROR) \S+\.py(?:::\S.*| - .*)?",
            r"Ran \d+ tests? in .*|FAILED \((?:failures|errors)=.*",  # unittest
            r"Tests?:\s.*\d.*|\s*(?:Test Suites:|Test Files |Tests  )\s*.*\d.*",  # Jest, Vitest, PHPUnit
            r"\s*\d+ (?:passing|failing)\b.*",  # mocha
            r"test result: .*|test .+ \.\.\. FAILED|error: (?:could not compile|aborting due).*",  # cargo
            r"FAIL(?:\s+\S+\s+(?:[\d.]+s|\(cached\)|\[.*\]))?",  # go test
            r"(?:\[\w+\] )?Tests run: \d+, Failures: \d+(?!.*<<<).*",  # Maven
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
"""Matches a whole line that sums up a run."""

OUTCOME = re.compile(r" (?:FAILED|ERROR)\s*\[ *\d+%\]$")
"""The outcome of one test of pytest, after its name."""

RED = re.compile(
    r"\b[1-9]\d*(?: tests?)? (?:failed|failures?|errors?|failing|problems?)\b|FAIL|[#ℹ] fail [1-9]|exit code [1-9]"
    r"|(?<!expected )\b(?:Failures|Errors|failures|errors|Failed)[:=]\s*[1-9]|(?:failed|unreachable)=[1-9]|failed [1-9]"
    r"|Job failed|Failed!|Failed \d|Errors while|Failures \d|could not compile|aborting due| = [EF]$|^rspec "
)
"""Parts of a result that report a failure."""

GREEN = re.compile(
    r"passed|passing|\bok\b|OK \(|SUCCESS|PASS|\b0 (?:failed|failures|errors)|[#ℹ] fail 0|succeeded|Passed!|Successful"
    r"|Tests run: [1-9]"
)
"""Parts of a result that report success."""

MESSAGE = re.compile(
    r"E\s{2,}\S|\s*Caused by: |.*panicked at|.*\b(?:assertion failed|Assertion .*failed)\b|\s*Assert\."
    r"|\s*[-+]?\s*(?:Expected|Received|Actual|expected|actual|got|want|wanted|but was|left|right|lhs|rhs)\b[^:=]{0,40}"
    r"[:=(]|.*\b[A-Z]\w*(?:Exception|Error|Failure)\b ?[:(\[]|.*\bexpected\b|.*\bFailed asserting"
    r"|\s*#\s+(?:got|expected|Failed)|\s*Failure/Error: |\s*[-+] +\S|\s*\S+\.go:\d+: |\s*not ok |.*\berror\b(?!s)"
)
"""Lines of a block that tell what happened, or expected and actual values."""

HINT = re.compile(r".*\b(?:[Ee]rror|[Ff]ail(?:ed|ure)|operator|code)\b|\s*[-+]\S|>\s{2,}\S")
"""Lines that may tell what happened if no other line does."""

PLACE = re.compile(
    r"[\w./\\@+-]*[\w+-]\.(?:py|[cm]?[jt]sx?|java|kts?|go|rs|rb|php|cs|exs?|c|cc|cpp|cxx|hh?|hpp|swift|scala|groovy|vue"
    r"|lua|pl|t|m|dart)(?:\"?,? line |[:(]|:line )\d+"
)
"""A location in source code."""

LIBRARY = re.compile(
    r"node_modules|site-packages|dist-packages|/usr/(?:local/)?(?:lib|share|include|go)|node:|/rustc/|\.cargo|/pkg/mod/"
    r"|/vendor/|/gems/|<frozen|\b(?:java|javax|jdk|sun|scala|kotlin)\.|org\.(?:junit|apache|gradle|mockito|opentest4j"
    r"|assertj)|\b(?:Xunit|NUnit|System|Microsoft)\.|lib/(?:python|ruby|node)|unittest/|testing\.go|\((?:ex_unit|elixir"
    r"|stdlib)|/_pytest/|panic\.go|runtime/|core/src/|std/src/"
)
"""Parts of a location that is not in own code."""
