"""Writes placeholders for cleared results and contents: what was there, and how to get it back.

A placeholder promises only what is true. Where the originals are kept, it names the digest that `recall` takes.
Elsewhere it says which call to make: that call shows what holds then, and some agents answer a second read of a file
with a note that nothing changed.

Name and arguments of a call tell whether it read a file or a part of it, rewrote it, or changed it. Supported are the
shapes of Claude Code (`Read`, `Edit`, `Write`, `Bash` with a plain `cat`), of Anthropic's text editor, of MCP file
servers (`mcp__files__read_file`), of `apply_patch`, and calls written as text. Any other call counts as touching no
file: it is better to keep an old result too long than to clear a needed one.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from html import escape, unescape
from typing import Any

from secateur.kinds.conversation.decisions import LONGEST_NAME
from secateur.kinds.conversation.media import without_encoded
from secateur.kinds.conversation.messages import MessagePart, PartKind, canonical, opening_tag
from secateur.kinds.log.failures import find_blocks
from secateur.kinds.log.levels import LIKELY
from secateur.model import Reason
from secateur.progress import unreported

LONGEST_PATH = 1024
LONGEST_COMMAND = 4096  # longest shell command that is read
LONGEST_NOTE = 400  # longest result that only says that a file is unchanged

_PATH_KEYS = (
    "path",
    "file_path",
    "filepath",
    "filePath",
    "filename",
    "file",
    "absolute_path",
    "target_file",
    "notebook_path",
)
_READ_WORDS = frozenset(("read", "view", "open", "cat", "show", "get"))
_CHANGE_WORDS = frozenset(
    (
        "edit",
        "multiedit",
        "replace",
        "insert",
        "patch",
        "update",
        "append",
        "apply",
        "delete",
        "remove",
        "rename",
        "move",
        "undo",
    )
)
_WRITE_WORDS = frozenset(("write", "create", "save"))
# Words of a request for other facts of a file than its text.
_OTHER_WORDS = frozenset(
    ("diff", "log", "blame", "history", "info", "status", "symbols", "outline", "directory", "dir", "tree", "search")
)
_SHELLS = frozenset(("bash", "shell", "sh", "exec", "execute", "run", "terminal"))
_PRINTERS = frozenset(("cat", "nl", "bat"))
_PROGRAM = re.compile(r'(?:"|&&|\|\||;|\\n)\s*([\w./-]+)')
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TEXT_CALL = re.compile(r"<([A-Za-z_][\w-]*)>\s*<(?:path|file_path)>([^<]{1,1024})</(?:path|file_path)>")
_PATCHED = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.{1,1024})$", re.MULTILINE)
_OLD_KEYS = ("old_string", "old_str", "oldString", "oldText", "old_text", "search")
_NEW_KEYS = ("new_string", "new_str", "newString", "newText", "new_text", "replace")
_UNCHANGED = re.compile(r"\bunchanged since\b", re.IGNORECASE)
_UNSAFE = re.compile(r"[|&;<>$`*?(){}\n]")


class FileOperation(StrEnum):
    """The effect of a tool call on a file."""

    READ = "read"
    READ_PART = "read_part"
    WRITTEN = "written"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class FileAccess:
    """A file that a tool call touched, and the operation."""

    path: str
    operation: FileOperation


def file_accesses(part: MessagePart, preceding_text: str = "") -> Iterator[FileAccess]:
    """Yields the files that the call of a result touched.

    Args:
        part: the result, with the tool and the arguments of its call.
        preceding_text: for a result written as text, the text with its call.
    """
    if part.span is not None:
        calls = _TEXT_CALL.findall(preceding_text[-LONGEST_COMMAND:])
        if len(calls) == 1 and (operation := _operation(calls[0][0], whole=True)):
            yield FileAccess(calls[0][1].strip(), operation)
        return
    if not part.arguments:
        return
    try:
        arguments = json.loads(part.arguments)
    except (ValueError, RecursionError):
        arguments = part.arguments  # a patch may be the whole argument
    if isinstance(arguments, str):
        yield from _accesses_in_patch(part.tool, arguments)
    elif isinstance(arguments, dict):
        yield from _accesses_in_arguments(
            part.tool, {key: value for key, value in arguments.items() if value is not None}
        )


def is_unchanged_note(part: MessagePart) -> bool:
    """Tells whether a result only says that a file is as it was when it was last read, as Claude Code answers."""
    return len(part.text) <= LONGEST_NOTE and _UNCHANGED.search(part.text) is not None


def replaced_texts(part: MessagePart) -> tuple[list[str], list[str]]:
    """Returns the texts that an edit removes from its file, and the texts that it inserts."""
    try:
        arguments = json.loads(part.arguments)
    except (ValueError, RecursionError):
        return [], []
    if not isinstance(arguments, dict):
        return [], []
    edits = arguments.get("edits")
    edits = [arguments, *(edit for edit in (edits if isinstance(edits, list) else ()) if isinstance(edit, dict))]
    old, new = ([edit[key] for edit in edits for key in keys if key in edit] for keys in (_OLD_KEYS, _NEW_KEYS))
    return [text for text in old if isinstance(text, str)], [text for text in new if isinstance(text, str)]


def clear_contents(part: MessagePart, mark: str, longest: int) -> str:
    """Returns the arguments of a call as JSON with texts of more than `longest` characters cleared: `mark` replaces the
    first, the beginning of `mark` the others. Paths stay."""
    marks = iter([mark])

    def cut(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {key: cut(inside, key) for key, inside in value.items()}
        if isinstance(value, list):
            return [cut(inside) for inside in value]
        if not isinstance(value, str) or len(value) <= longest or key in _PATH_KEYS:
            return value
        return next(marks, mark.partition(":")[0] + "]")

    try:
        arguments = json.loads(part.arguments)
    except (ValueError, RecursionError):
        return mark if len(part.arguments) > longest else part.arguments
    return canonical(cut(arguments))


def _accesses_in_arguments(tool: str, arguments: dict[str, Any]) -> Iterator[FileAccess]:
    named = [key for key in _PATH_KEYS if isinstance(arguments.get(key), str)]
    command = arguments.get("command", arguments.get("cmd"))
    if len(named) == 1 and 0 < len(arguments[named[0]]) <= LONGEST_PATH:
        subcommand = command if isinstance(command, str) else ""  # the text editor's operation
        rest = [key for key in arguments if key != named[0] and not (subcommand and key == "command")]
        operation = _operation(subcommand, whole=not rest) if subcommand else None
        operation = operation or _operation(tool, whole=not rest)
        if operation:
            yield FileAccess(arguments[named[0]], operation)
    elif command is not None and not named and (shown := _printed_file(tool, command)):
        yield FileAccess(shown, FileOperation.READ)
    for text in arguments.values():
        if isinstance(text, str):
            yield from _accesses_in_patch(tool, text)


def _operation(name: str, *, whole: bool) -> FileOperation | None:
    words = {word.lower() for word in _WORD.findall(name)}
    if words & _CHANGE_WORDS:
        return FileOperation.CHANGED
    if words & _WRITE_WORDS:
        return FileOperation.WRITTEN
    if words & _READ_WORDS and not words & _OTHER_WORDS:
        return FileOperation.READ if whole else FileOperation.READ_PART
    return None


def _accesses_in_patch(tool: str, text: str) -> Iterator[FileAccess]:
    if "patch" in tool.lower() and "*** " in text:
        for what, path in _PATCHED.findall(text):
            yield FileAccess(path.strip(), FileOperation.WRITTEN if what == "Add" else FileOperation.CHANGED)


def shell_programs(part: MessagePart) -> set[str]:
    """Returns the words of a shell's call that may be programs whose output it gave, the first of each pipe, and more;
    nothing if the tool is not a shell."""
    is_shell = not _SHELLS.isdisjoint(word.lower() for word in _WORD.findall(part.tool))
    return {word.rpartition("/")[2] for word in _PROGRAM.findall(part.arguments)} if is_shell else set()


def _printed_file(tool: str, command: Any) -> str:
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        command = command[-1] if command[0].rpartition("/")[2] in _SHELLS else shlex.join(command)
    if (
        not isinstance(command, str)
        or len(command) > LONGEST_COMMAND
        or not {word.lower() for word in _WORD.findall(tool)} & _SHELLS
    ):
        return ""
    if _UNSAFE.search(command):
        return ""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    paths = [word for word in words[1:] if not word.startswith("-")]
    return paths[0] if words and words[0] in _PRINTERS and len(paths) == 1 and len(paths[0]) <= LONGEST_PATH else ""


MARK = "[tool result cleared: "  # the start of every placeholder
CONTENT_MARK = "[content cleared: "  # the start of the placeholder for a content that a call wrote into a file
ERRORS_MARK = "\n[errors in it:]\n"  # the text between a placeholder and the lines that stay
BESIDE_MARK = "\n[beside the picture:]\n"  # the same for the words of a result with a picture
LONGEST_BESIDE = 600  # most characters of these words
LONGEST_ERROR, LONGEST_ERRORS = 300, 20 * 301  # most characters of one kept line, and of all kept lines together
LONGEST_REPORT = 20_000  # lines of a result that are searched for errors
DIGEST_DIGITS = 12  # hexadecimal digits of the SHA-256 in a placeholder

# Longest arguments of a call that a placeholder repeats; longer ones can be read in the call, which stays.
SHOWN_ARGUMENTS = 120

LONGEST_WAY = 400  # longest text on how to get a result back
LOOKED = (FileOperation.READ, FileOperation.READ_PART)  # operations that only read a file

_BACK = {
    Reason.REPEATED: "the same text came again later",
    Reason.SUPERSEDED: "the file was read again or written anew later",
}
_REREAD = {
    Reason.SUPERSEDED: _BACK[Reason.SUPERSEDED],
    Reason.OUTDATED: "the file was changed since, read it for its present text",
    Reason.OLDEST_RESULT: "read the file for its present text",
}
_NAMED = re.compile(r"(?:E\s+)?[\w.:]*(?:Error|Exception|error|panic|Panic|fatal)\b[\w\[\]]*:")
_DIGEST = rf"[0-9a-f]{{{DIGEST_DIGITS}}}"
_CONTENT_CLEARED = re.compile(
    re.escape(CONTENT_MARK) + rf"[\d,]+ tokens(?:, sha256 {_DIGEST})?; [a-z ,]{{,80}}(?:; recall {_DIGEST})?\]"
)
_CLEARED = re.compile(
    re.escape(MARK)
    # 16: whether it succeeded
    + rf".{{0,{LONGEST_NAME + 16}}}[\d,]+ tokens"
    + rf"(?:, sha256 {_DIGEST}; .{{0,{LONGEST_WAY}}}|; .{{0,{LONGEST_WAY}}}recall {_DIGEST} gives it back)\]",
    re.DOTALL,
)


def digest_of(text: str) -> str:
    """Returns the digest that names a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_DIGITS]


def result_placeholder(part: MessagePart, why: Reason, tokens: int, errors: int = 0, *, recalls: bool = False) -> str:
    """Writes the placeholder of a result: tool, success, size, and how to get it back; below it up to `errors` lines
    that report an error, unless a later message holds the same text. `recalls`: the original is kept."""
    if part.kind is not PartKind.RESULT:  # a user's words, and pictures among or beside them
        text = without_encoded(part.text)
        return text or f"[picture cleared: {tokens:,} tokens; ask the user for it if it is needed]"
    recalls = recalls and bool(part.text)
    success = {True: "succeeded", False: "failed", None: ""}[part.success]
    digest = "" if recalls else f"sha256 {digest_of(part.text)}"
    facts = [part.tool[:LONGEST_NAME] or "unnamed tool", success, f"{tokens:,} tokens", digest]
    ways = [_BACK.get(why) or _way(part, why, recalls=recalls)]
    ways += [f"recall {digest_of(part.text)} gives it back"] if recalls else []
    text = MARK + "; ".join([", ".join(filter(None, facts)), *filter(None, ways)]) + "]"
    if lines := errors_in(part, errors if why not in _BACK else 0):
        text += ERRORS_MARK + "\n".join(lines)
    elif why not in _BACK and (words := _words_beside(part)):
        text += BESIDE_MARK + words
    return text if part.span is None else f"{opening_tag(part.text)}{escape(text, quote=False)}</tool_result>"


def say_shortened(result: str, whole: str, short: str, tokens: int, *, recalls: bool) -> str:
    """Puts the line above a shortened result that says so, and how to get the whole. `recalls`: it is kept."""
    file = "" if whole is result else result.partition(" saved to: ")[2].partition("\n")[0][:LONGEST_PATH]
    way = f"all of it is in {file}" if file else "ask for less, or write it to a file and read parts"
    way = f"recall {digest_of(whole)} gives it whole" if recalls else way
    return f"[tool result shortened: it had {tokens:,} tokens; {way}]\n{short}"


def _way(part: MessagePart, why: Reason, *, recalls: bool) -> str:
    since = "the file was changed since" if why is Reason.OUTDATED else ""
    if recalls:
        return since
    known = f" with {part.arguments}" if part.arguments and len(part.arguments) <= SHOWN_ARGUMENTS else ""
    call = f"call {'it' if known else 'the tool'} again{known}"
    if any(access.operation in LOOKED for access in file_accesses(part)):
        call += ", or for another range if it only says unchanged"
    else:
        call += " for its present result"
    return f"{since}, {call}" if since else call


def _words_beside(part: MessagePart) -> str:
    """The words of a result that holds a picture too; "" if it holds none."""
    words = without_encoded(part.text).strip() if part.span is None else part.text
    if words in ("", part.text.strip()) and not part.media:
        return ""
    return words if len(words) <= LONGEST_BESIDE else words[: LONGEST_BESIDE - 1] + "…"


def content_placeholder(part: MessagePart, why: Reason, tokens: int, *, recalls: bool = False) -> str:
    """Writes the placeholder of a content that a call wrote into a file."""
    digest = digest_of(part.text)
    if recalls:
        return f"{CONTENT_MARK}{tokens:,} tokens; {_REREAD[why]}; recall {digest}]"
    return f"{CONTENT_MARK}{tokens:,} tokens, sha256 {digest}; {_REREAD[why]}]"


def is_cleared(part: MessagePart) -> bool:
    """Tells whether a result, or the content of a call, is a placeholder already. A text that only begins like one is
    not."""
    if part.kind is PartKind.CALL:
        return _CONTENT_CLEARED.search(part.arguments) is not None
    text = part.text
    if part.span is not None:
        text = unescape(text[len(opening_tag(text)) :].removesuffix("</tool_result>"))
    text, _, errors = text.partition(ERRORS_MARK)
    text, _, words = text.partition(BESIDE_MARK)
    kept = len(errors) <= LONGEST_ERRORS and len(words) <= LONGEST_BESIDE
    return not part.media and _CLEARED.fullmatch(text) is not None and kept


def errors_in(part: MessagePart, most: int) -> list[str]:
    """Returns the first lines of a result that report an error, as the pruner of logs finds them; none of a file that
    was read: its text is not a report."""
    if not most or part.media or any(access.operation in LOOKED for access in file_accesses(part)):
        return []
    lines = without_encoded(part.text).splitlines()[:LONGEST_REPORT]
    errors: dict[str, None] = {}
    for block in find_blocks(lines, unreported).blocks:
        if block.grade >= LIKELY and not block.repeats:
            telling = [lines[index].strip() for index in block.telling]
            named = next(filter(_NAMED.match, telling), "".join(telling[:1]))  # the line that names the error
            errors |= {named[:LONGEST_ERROR]: None} if named else {}
    return list(errors)[:most]
