"""Facts to plant in transcripts, as people and tools write them, and transcripts to plant them in.

Two sets of phrasings for each kind: SEEN may be looked at when summaries are worked on; HELD_OUT is only counted. In
braces stands what makes a fact one of its own: made-up words that are nowhere else, so that a fact found in the output
is the one that was planted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from support.conversations import Said

KINDS = ("decision", "name", "path", "error", "question")

Phrasings = dict[str, dict[str, tuple[str, ...]]]
"""Kind -> who says it ("user", "assistant", "result", "call") -> templates."""

SEEN: Phrasings = {
    "decision": {
        "user": (
            "Let's go with {snake} for the retries and leave the other one alone.",
            "OK, {camel} it is then.",
            "Please keep {snake} at {number}, the customers rely on that.",
            "I'd rather not touch {path} in this change.",
            "We talked about it yesterday: {camel} stays synchronous.",
            "no, don't add a dependency for this, write {snake} by hand",
            "用 {camel} 来处理，不要再改旧的接口。",
            "From now on every amount goes through {snake}() before it is stored.",
        ),
        "assistant": (
            "I went with {snake} because the two callers already hold the lock.",
            "So the plan is: {camel} owns the connection and everybody else borrows it.",
            "I'm dropping the cache in {path} since it was never invalidated.",
            "Decision: {camel} is created once per process.",
            "I'll switch {snake} to a bounded queue of {number} entries as you asked.",
            "Rather than patching the parser, I moved the check into {snake}.",
        ),
        "result": (
            "# ADR {number}: {camel} replaces the nightly job",
            "NOTE({person}): {snake} is frozen until the migration is through",
        ),
    },
    "name": {
        "user": (
            "{person} from the payments team knows how that part works.",
            "The flag is called {snake} in production.",
            "Our staging cluster is {kebab}, in case you need it.",
            "The ticket for this is {ticket}.",
            "the branch is {kebab}, based on main",
            "负责这个模块的人是 {person}。",
        ),
        "assistant": (
            "The function that rounds is called {snake} and it is used in three places.",
            "`{camel}` inherits from two mixins, which is why the lookup is confusing.",
            "The environment variable is {upper}.",
            "The service registers itself as {kebab}.",
            "What you call the wallet is the class {camel} in the code.",
        ),
        "result": (
            "class {camel}(Base):",
            "def {snake}(self, order, *, dry_run=False):",
            "export {upper}=1",
            "* {kebab} 3 days ago {person}",
        ),
        "call": ("{snake}", "{camel}"),
    },
    "path": {
        "user": (
            "Have a look at {path}, that's where it goes wrong.",
            "the config lives under {path} on the servers",
            "Tests for it are in {path}.",
            "Put the new module next to {path} please.",
        ),
        "assistant": (
            "The relevant code is in {path}.",
            "I created {path} with the helper in it.",
            "Both call sites ({path} and the worker) now pass the rate.",
            "It turns out {path} shadows the installed module.",
            "已经修改了 {path} 里的计算。",
        ),
        "result": (
            "{path}:{number}:    total = round(amount * rate, 2)",
            " M {path}",
            "create mode 100644 {path}",
            "{path} .......... [ 64%]",
        ),
        "call": ("{path}",),
    },
    "error": {
        "user": (
            "In production I get {camel}Error: rate missing for {number}.",
            "It hangs for {number} seconds and then says the socket {kebab} is gone.",
            "The build on {kebab} has been red since Tuesday.",
            "线上一直报错 {camel}Exception。",
            "Customers see a blank page when {snake} is empty.",
        ),
        "assistant": (
            "The test crashes with a segmentation fault inside {snake}.",
            "{camel} returns None here, so the attribute access blows up.",
            "The cause is an off-by-one in {snake}: the last page is never fetched.",
            "The import of {snake} fails on Python 3.11.",
            "The worker ran out of memory at {number} rows.",
        ),
        "result": (
            "E       {camel}Error: expected {number}, got None",
            "FAILED tests/test_{snake}.py::test_total - assert {number} == 0",
            '{path}:{number}: error: Incompatible return value type (got "None") [return-value]',
            "thread 'main' panicked at '{snake} out of range', {path}:{number}",
            "npm ERR! missing script: {kebab}",
            "ModuleNotFoundError: No module named '{snake}'",
        ),
    },
    "question": {
        "user": (
            "Do we still need {camel} at all?",
            "I don't know yet whether {snake} should be public.",
            "Remind me to ask {person} about the quota.",
            "What happens to {snake} when the clock goes backwards?",
            "{camel} 还要保留吗？",
        ),
        "assistant": (
            "Should {snake} raise or return an empty list?",
            "I have not checked yet what {camel} does with negative amounts.",
            "It remains to be seen if {path} is needed after the migration.",
            "Somebody has to confirm that {number} is really the limit.",
            "TODO: document {snake}.",
            "I left the {kebab} case for later.",
        ),
        "result": (
            "    # TODO({person}): {snake} does not handle leap seconds",
            "    # FIXME: why is {snake} called twice?",
        ),
    },
}

HELD_OUT: Phrasings = {
    "decision": {
        "user": (
            "Fine by me, do it with {camel}.",
            "Stick to {snake}, we can revisit next quarter.",
            "{person} signed off on {number} as the upper limit.",
            "Whatever you do, leave {path} as it is.",
            "We want {camel} gone before the release.",
            "Make {snake} the default.",
            "就按 {camel} 的方案做吧。",
        ),
        "assistant": (
            "Agreed, {snake} will be the only entry point.",
            "I settled on a timeout of {number} for {kebab}.",
            "To keep the diff small I left {camel} untouched and wrapped it.",
            "We are back to {snake}, because the alternative needed a lock.",
            "I reverted {path} to the version before the refactoring.",
        ),
        "result": (
            "Status: accepted - {camel} is the single writer",
            "commit: prefer {snake} over the global registry",
        ),
    },
    "name": {
        "user": (
            "Internally everybody calls it {kebab}.",
            "Ping {person} when it's done.",
            "You can log in as {snake}.",
            "It's {ticket} in the tracker.",
            "The customer is {person}, the one with the odd invoices.",
        ),
        "assistant": (
            "There's a helper named {snake} that does exactly this.",
            "{camel} is the odd one out.",
            "The queue behind it is {kebab}.",
            "Authentication uses the header {upper}.",
        ),
        "result": (
            "interface {camel} extends Stored {",
            "func ({kebab}) {snake}(ctx context.Context) error {",
            "{upper}: enabled",
        ),
        "call": ("{kebab}", "{snake}"),
    },
    "path": {
        "user": (
            "You'll find it in {path} I think.",
            "{path} is generated, by the way.",
            "same problem in {path}",
            "日志在 {path} 里面。",
        ),
        "assistant": (
            "I've moved the constants over to {path}.",
            "{path} has the same bug.",
            "See the comment at the top of {path}.",
            "That leaves {path}, which nothing imports any more.",
        ),
        "result": (
            "deleted:    {path}",
            '  File "{path}", line {number}, in run',
            "+++ b/{path}",
            "Wrote {number} bytes to {path}",
        ),
        "call": ("{path}",),
    },
    "error": {
        "user": (
            "My terminal says: fatal, {kebab} is locked by another process.",
            "After the upgrade {snake} is twice as slow.",
            "It gives me the wrong total, {number} where it was 17.",
            "{camel} 又崩溃了。",
        ),
        "assistant": (
            "The lookup of {snake} raises a KeyError when the table is cold.",
            "{camel} leaks a file handle on every call.",
            "There is a race between {snake} and the flusher.",
            "The migration is broken: {kebab} has two heads.",
        ),
        "result": (
            'Exception in thread "main" java.lang.{camel}Exception: at index {number}',
            "error[E0308]: mismatched types in `{snake}`",
            "curl: (7) Failed to connect to {kebab} port {number}: Connection refused",
            "make: *** [{path}] Error 1",
            "AssertionError: {number} != {snake}",
        ),
    },
    "question": {
        "user": (
            "Not sure {snake} is the right name, think about it.",
            "Which of the two does {camel} win against?",
            "Can {person} live with that?",
            "{snake} 为什么会被调用两次？",
        ),
        "assistant": (
            "One thing I could not find out: who sets {upper}?",
            "Do you want {camel} to be thread-safe as well?",
            "It is unclear to me why {snake} sorts twice.",
            "Pending: a test for {snake} with an empty file.",
        ),
        "result": ("    // XXX {person} says {snake} may be wrong here", "- [ ] {camel}: decide on the retention"),
    },
}

_SYLLABLES = (
    "ba",
    "co",
    "di",
    "fu",
    "ga",
    "ke",
    "lo",
    "mi",
    "nu",
    "pe",
    "ra",
    "so",
    "ti",
    "vu",
    "wa",
    "zo",
    "bri",
    "cla",
    "dro",
    "fle",
    "gru",
    "plo",
    "sti",
    "tra",
)
_ENDINGS = ("rate", "ledger", "cart", "token", "batch", "cursor", "window", "quota", "tax", "slot", "page", "shard")
_FOLDERS = ("src", "lib", "app", "tests", "services", "packages", "internal", "deploy")
_SUFFIXES = ("py", "ts", "go", "rs", "java", "yaml", "sql", "md")


@dataclass(frozen=True, slots=True)
class Fact:
    """A planted fact: what is looked for in the output, letter by letter."""

    kind: str
    by: str  # "user" | "assistant" | "result" | "call"
    text: str


def facts(phrasings: Phrasings, random: Random) -> list[Fact]:
    """One fact for each phrasing, in random order."""
    made = [
        Fact(kind, by, _filled(template, random))
        for kind, speakers in phrasings.items()
        for by, templates in speakers.items()
        for template in templates
    ]
    random.shuffle(made)
    return made


def found(facts: Sequence[Fact], messages: Sequence[Mapping[str, Any]]) -> list[bool]:
    """For each fact whether it is in the messages, letter by letter but for blanks."""
    text = _one_line("\n".join(string for message in messages for string in _strings(message)))
    return [_one_line(fact.text) in text for fact in facts]


def _strings(value: Any) -> Iterator[str]:
    """All texts in a value, and those in the JSON that a text may hold."""
    if isinstance(value, str):
        yield value
        if value[:1] == "{":
            with suppress(ValueError):
                yield from _strings(json.loads(value))
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _filled(template: str, random: Random) -> str:
    while (start := template.find("{")) >= 0 and (end := template.find("}", start)) > 0:
        template = template[:start] + _word(template[start + 1 : end], random) + template[end + 1 :]
    return template


def _word(kind: str, random: Random) -> str:
    root = "".join(random.choice(_SYLLABLES) for _ in range(3))
    ending = random.choice(_ENDINGS)
    made = {
        "snake": f"{root}_{ending}",
        "camel": root.capitalize() + ending.capitalize(),
        "kebab": f"{root}-{ending}",
        "upper": f"{root}_{ending}".upper(),
        "person": root.capitalize() + " " + "".join(random.choice(_SYLLABLES) for _ in range(2)).capitalize(),
        "number": str(random.randrange(1000, 99999)),
        "ticket": f"{root[:3].upper()}-{random.randrange(100, 9999)}",
        "path": f"{random.choice(_FOLDERS)}/{root}/{ending}_{random.choice(_SYLLABLES)}.{random.choice(_SUFFIXES)}",
    }
    return made[kind]


# --- what stands around them ------------------------------------------------------------------------------------------

ASKED = (
    "Can you have a look at this?",
    "Thanks. Next one please.",
    "Great, that works for me.",
    "Hmm, that does not look right, try again.",
    "Could you explain how this part hangs together before you change anything?",
    "Please run the tests once more and tell me what you see.",
    "I had a meeting, sorry for the delay. Where were we?",
    "Looks good so far, carry on with the rest of it.",
    "One more thing while you are there, the formatting is off in a few places.",
    "Let me know when you are done with this, I am going to get some lunch.",
    "I think somebody else has looked at this some time ago but I cannot find it any more.",
    "Yes please.",
    "Never mind the style for now, we will run the formatter at the end.",
)
TOLD = (
    "Let me start by looking at how the pieces fit together.",
    "I'll check the tests first and then come back to the code.",
    "That makes sense, thanks for the explanation.",
    "Now let me run everything again to make sure that nothing else is affected by this.",
    "The change itself is small, most of the diff is indentation and comments.",
    "All tests pass now, and there is no error in the log any more.",
    "I looked through the history and the reason for the old behaviour is not written down anywhere.",
    "Here is a summary of what I did, in the order in which I did it.",
    "First I read the code around it to understand what is expected of it.",
    "This is the part that needs to change if we want to support both of them.",
    "I must say the naming makes this harder to follow than it would have to be.",
    "The numbers look the same as before, within the noise of the machine.",
    "There are a few ways of doing this and each has its own drawbacks.",
    "It should be enough to change this in one place, as everything else goes through it.",
    "I have added a comment that explains why it is done in this order.",
    "The rest of the file is unrelated and I will not go into it here.",
    "If you would like me to go further with this I can, otherwise I would stop here.",
    "Done. You can see the difference in the output above.",
    "I will now apply the same change to the other places.",
    "Before that I want to be sure that the behaviour is covered by a test.",
)
VARIED = (
    "I'll read {place} again to see what the {thing} expects.",
    "Now the {thing}: it looks much like the {other}.",
    "Running the tests of the {thing} in {place} took {n} ms.",
    "The {thing} calls `{known}`, which in turn calls the {other}.",
    "We must not forget the {thing}, but it can wait until the {other} is done.",
    "Let me check whether `{known}` is used by the {other} too.",
    "The error from before came from the {thing}, not from the {other}.",
    "`{known}` and the {thing} are both in {place}, so I open that first.",
    "There are {n} lines about the {thing} in the log and none about the {other}.",
    "I think the {thing} is fine as it is; the {other} needs a second look.",
    "Is the {thing} next, or the {other}?",
    "Then I renamed a variable in {place} so that the {thing} reads better.",
)
"""Chatter with names, cues and numbers of its own: said on the way, no fact."""
THINGS = (
    "parser",
    "cache",
    "settings",
    "column",
    "header",
    "footer",
    "job",
    "table",
    "test",
    "fixture",
    "client",
    "server",
    "page",
    "template",
    "query",
    "index",
    "log",
    "report",
    "button",
    "form",
)
KNOWN = (
    "load_config",
    "render",
    "getUser",
    "OrderService",
    "parse_line",
    "handle",
    "to_dict",
    "Session",
    "retry_all",
    "fetchRows",
)
LOGGED = (
    "tests/unit/test_{n}.py ........................ [ {p}%]",
    "2026-03-0{d} 10:{m}:07,113 INFO  worker-{d} handled request {n} in {m} ms",
    "2026-03-0{d} 10:{m}:09,871 DEBUG cache hit ratio 0.{m}, {n} entries",
    "drwxr-xr-x  {d} root root   4096 Mar  {d} 10:{m} part{n}",
    "-rw-r--r--  1 root root  {n} Mar  {d} 10:{m} module{n}.py",
    "Requirement already satisfied: library{n}>=1.{d} in ./venv/lib/python3.12/site-packages (1.{m}.{d})",
    "   Compiling crate{n} v0.{m}.{d}",
    "  {n} | 0x00007ffd{n} | {m} | ok",
)
"""Templates of what tools print."""

_IN_FILES = re.compile(
    r"^(?:class|interface|func|def|export) |TODO|FIXME|XXX|NOTE\(|^# ADR|^Status:|^- \[ \]|: enabled$"
)
"""What stands in files; all else that tools print is of runs, or a match of a search."""
_MATCH = re.compile(r":\d+:    total")

_SAMPLES = Path(__file__).parents[2] / "sample_repos"


def sources() -> list[str]:
    """Texts of real files: those of the sample repositories."""
    return [
        path.read_text("utf-8")
        for path in sorted(_SAMPLES.rglob("*"))
        if path.suffix in (".py", ".ts", ".go", ".md", ".java", ".rb") and path.is_file()
    ]


def planted(facts: Sequence[Fact], random: Random, *, steps: int = 2, lines: int = 60) -> Iterator[Said]:
    """A turn for each fact, with chatter, file contents and logs around it.

    Args:
        steps: tool calls of a turn, at most. With 0 only the facts of results and calls have one.
        lines: of a tool result, about.
    """
    files = sources()
    for fact in facts:
        asked = random.sample(ASKED, random.randrange(1, 3))
        told = [
            *random.sample(TOLD, random.randrange(1, 4)),
            *(_chatter(random) for _ in range(random.randrange(1, 4))),
        ]
        random.shuffle(told)
        if fact.by in ("user", "assistant"):
            said = asked if fact.by == "user" else told
            said.insert(random.randrange(len(said) + 1), fact.text)
        number = max(random.randrange(steps + 1), fact.by in ("result", "call"))
        made = []
        for step in range(number):
            printed = _printed(files, random, max(2, random.randrange(lines // 2, lines * 2)))
            if fact.by == "result" and step == 0:
                printed.insert(random.randrange(len(printed) + 1), fact.text)
            path = fact.text if fact.by == "call" and step == 0 else f"src/part{random.randrange(40)}.py"
            tool = random.choice(("read_file", "grep", "run_tests"))
            if fact.by == "result" and step == 0:
                tool = (
                    "read_file" if _IN_FILES.search(fact.text) else "grep" if _MATCH.search(fact.text) else "run_tests"
                )
            made.append((tool, path, "\n".join(printed), random.random() < 0.9))
        yield Said(" ".join(asked), tuple(made), " ".join(told))


def _chatter(random: Random) -> str:
    thing, other = random.sample(THINGS, 2)
    place = f"src/part{random.randrange(40)}.py"
    return random.choice(VARIED).format(
        thing=thing, other=other, place=place, known=random.choice(KNOWN), n=random.randrange(10, 999)
    )


def _printed(files: Sequence[str], random: Random, lines: int) -> list[str]:
    if random.random() < 0.6:
        rows = random.choice(files).split("\n")
        start = random.randrange(max(1, len(rows) - lines))
        return rows[start : start + lines]
    template = random.choice(LOGGED)
    return [
        template.format(
            n=random.randrange(100, 9999), p=row * 100 // lines, d=random.randrange(1, 9), m=random.randrange(10, 60)
        )
        for row in range(lines)
    ]
