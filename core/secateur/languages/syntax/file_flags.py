"""Classifies a file by its path and first bytes: test, generated, vendored, minified, example, documentation, lockfile,
binary.

The tables hold conventions of common ecosystems. A pure function; a file can have several flags or none.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from functools import cache

from secateur.encodings import as_utf8
from secateur.languages import languages
from secateur.languages.syntax.names import words

TEST = "test"
GENERATED = "generated"
VENDORED = "vendored"
MINIFIED = "minified"
EXAMPLE = "example"
DOCUMENTATION = "documentation"
LOCKFILE = "lockfile"
BINARY = "binary"
UNREADABLE_TEXT = "unreadable_text"

# Flags of files that are counted and listed, but not indexed. Other files are indexed; vendored and generated ones keep
# their flag. `classify` never returns `UNREADABLE_TEXT`, which is for files that cannot even be read as text.
UNINDEXED = frozenset({BINARY, LOCKFILE, MINIFIED, UNREADABLE_TEXT})

BINARY_HEAD = 8192  # bytes in which a NUL makes a file binary, as in git; UTF-16 text counts by its decoded characters

_CONTROL_SHARE = 0.05  # share of the head: text in any encoding has almost none, compressed data about a tenth
_LONG_LINE = 300  # mean line length of generated scripts and stylesheets
_ENDLESS_LINE = 5000  # no person reads a line of that length, in any language
_MARKER_BYTES = 2048  # generators put their mark in the first lines
_MARKER_LINES = 20

# Names of lock files, in lower case.
LOCKFILES = words(
    """
package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
uv.lock poetry.lock pdm.lock pipfile.lock pixi.lock pylock.toml conda-lock.yml
cargo.lock composer.lock gemfile.lock gems.locked go.sum go.work.sum mix.lock rebar.lock
pubspec.lock podfile.lock cartfile.resolved package.resolved packages.lock.json paket.lock
gradle.lockfile buildscript-gradle.lockfile flake.lock .terraform.lock.hcl chart.lock conan.lock
stack.yaml.lock cabal.project.freeze module.bazel.lock vcpkg-lock.json shard.lock renv.lock dub.selections.json
"""
)

# Flags that a folder name, in lower case and anywhere in the path, gives to the files below it.
_FOLDERS = {
    name: flag
    for flag, names in (
        (
            TEST,
            "test tests __tests__ testing testdata test_data test-data e2e cypress androidtest unittest unittests"
            " __snapshots__ __mocks__",
        ),
        (
            VENDORED,
            "vendor vendors vendored _vendor third_party third-party thirdparty 3rdparty extern external externals"
            " godeps carthage node_modules bower_components jspm_packages site-packages dist-packages .yarn",
        ),
        (GENERATED, "generated __generated__ _generated autogen gen-src generated-sources"),
        (EXAMPLE, "example examples sample samples demo demos tutorial tutorials docs_src cookbook playground"),
        (DOCUMENTATION, "doc docs documentation javadoc manual man"),
    )
    for name in names.split()
}

_PROSE = (".md", ".markdown", ".mdx", ".rst", ".adoc", ".asciidoc", ".org", ".textile", ".pod", ".rdoc", ".tex", ".man")
_SCRIPT = r"[cm]?[jt]sx?"
_TITLES = (
    "readme|changelog|changes|history|news|contributing|contributors|authors|licen[cs]e|copying|notice|security"
    "|code_of_conduct|todo"
)
# Flags that a file name in lower case gives; each language defines its own names of tests.
_NAMES: tuple[tuple[str, str], ...] = (
    (
        GENERATED,
        r".*\.pb\.(go|cc|cpp|h|c|swift|rs|ts)|.*_pb2(_grpc)?\.pyi?|.*_pb\.(js|d\.ts|rb)"
        r"|.*\.pb\.(gw|validate)\.go|.*_grpc\.pb\.go",
    ),
    (
        GENERATED,
        r".*[._-]generated\..+|zz_generated.*|.*\.(g|gr|freezed|mocks)\.dart"
        r"|.*\.(g|g\.i|designer)\.(cs|vb)|.*\.gen\.(go|rs|ts|py)",
    ),
    (
        GENERATED,
        r"bindata\.go|wire_gen\.go|.*\.(js|css|mjs)\.map|.*\.snap|gradlew(\.bat)?|mvnw(\.cmd)?"
        r"|.*\.pbxproj|y\.tab\.[ch]",
    ),
    (GENERATED, r"parser\.tab\.[ch]+|lex\.yy\.c|.*\.pot|moc_.*\.cpp|qrc_.*\.cpp"),
    (MINIFIED, r".*[.-]min\.(js|mjs|cjs|css|html|json|svg)|.*\.bundle\.(js|css)|.*\.chunk\.(js|css)"),
    (
        VENDORED,
        r"(jquery|bootstrap|modernizr|angular|prototype|underscore|lodash)([.-][\d.]+)?(\.slim)?(\.min)?\.(js|css)"
        r"|\.pnp\.[cm]?js|yarn-[\d.]+\.cjs",
    ),
    (EXAMPLE, rf".*\.(example|sample)(\..+)?|example[._-].*|.*\.stories\.{_SCRIPT}"),
    (DOCUMENTATION, rf"({_TITLES})([_-][a-z0-9_-]+)?(\.(txt|\d))?"),
    (LOCKFILE, r"pylock\..+\.toml"),
)

# What programs record: snapshots of tests, recorded requests, states of a schema or of infrastructure. By its path in
# lower case, or by how it begins.
_RECORDED_PATH = re.compile(
    r"(?:.*/)?(?:[^/]*cassettes?|__recordings__|__snapshots__|\.sqlx|pacts)/.*\.(?:ya?ml|json|har|txt|html?|xml|md|raw)"
    r"|(?:.*/)?(?:meta/(?:\d+_snapshot|_journal)\.json|db/(?:\w+_)?(?:schema\.rb|structure\.sql)|structure\.sql"
    r"|[^/]*modelsnapshot\.(?:cs|vb)|[^/]*\.(?:ambr|storyshot|har|tfstate)|[^/]*\.snap\.(?:new|md)"
    r"|[^/]*\.(?:verified|received|approved)\.(?:txt|json|xml|html?|csv|ya?ml)"
    r"|(?:[^/]*[._-])?introspection\.json|api/[^/]*\.api|[^/]*\.api\.md)"
)
_RECORDED_HEAD = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:"
    rb"\{\s*(?:\"data\"\s*:\s*\{\s*)?\"__schema\"\s*:|\{\s*\"_recordingName\"\s*:\s*\""
    rb"|\{\s*\"log\"\s*:\s*\{\s*\"(?:version|_recordingName)\""
    rb"|\{[^{}]{0,400}\"(?:prevId|terraform_version)\"\s*:|\{\s*\"formatVersion\"\s*:\s*\d+,\s*\"database\"\s*:"
    rb"|(?:---\s*)?(?:http_)?interactions:\s*\n\s*- +(?:request|response|recorded_at)\b"
    rb"|(?:--[^\n]*\n\s*){0,3}-- (?:PostgreSQL database|MySQL|MariaDB|phpMyAdmin SQL|Dumped) ?(?:dump|by)"
    rb"|PRAGMA foreign_keys=OFF;\s*BEGIN TRANSACTION;|SET statement_timeout = 0;)",
    re.IGNORECASE,
)

_LOWER = tuple((flag, re.compile(pattern)) for flag, pattern in _NAMES)
_WEB_SUFFIX = re.compile(r".*\.([cm]?jsx?|css|json|svg|xml|geojson)")
_BY_MACHINE = r"(automatically |auto-?|machine[ -])generated"
_HANDS_OFF = r"do(n't| not) (edit|modify|change)"
_GENERATED_MARKS = (
    r"@generated\b",
    r"<auto-?generated",
    r"\bfile (is |was )?generated (by|from|with)\b",
    rf"\b{_BY_MACHINE} (by|from|using|via|with)\b",
    rf"\b(file|code|module|header|class|source) .{{0,40}}\b{_BY_MACHINE}\b",
    rf"\bgenerated\b.*\b{_HANDS_OFF}\b",
    rf"\b{_HANDS_OFF}\b.*\bgenerated\b",
)
_GENERATED_MARK = re.compile("|".join(_GENERATED_MARKS).encode(), re.IGNORECASE)
_COMMENT = re.compile(rb"\s*(//|#|/\*|\*|--|<!--|;|%|\"\"\"|'''|\(\*|rem\b|dnl\b|\{-)", re.IGNORECASE)
_CONTROLS = bytes(
    c for c in range(32) if c not in b"\b\t\n\v\f\r\x1b\x1c\x1d\x1e\x1f"
)  # \x1c-\x1f separate fields and records of text
_BINARY_MAGIC = (
    *(b"%PDF-", b"\x1f\x8b", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff"),
    *(b"GIF8", b"7z\xbc\xaf", b"\xfd7zXZ", b"BZh9", b"\x7fELF"),
)


def classify(path: str, head: bytes) -> frozenset[str]:
    """Returns the flags of the file at `path` (with `/`); `head` are its first 8 KB or more, or all of a shorter file.

    A binary file has no other flag; the other flags come from names and content together.
    """
    if _is_binary(head[:BINARY_HEAD]):
        return frozenset({BINARY})
    *folders, name = path.split("/")
    lower = name.lower()
    is_prose = lower.endswith(_PROSE)
    content = (
        (VENDORED, "Pods" in folders),  # CocoaPods; `pods` in lower case is Kubernetes
        (TEST, _is_test(folders, name)),
        (DOCUMENTATION, is_prose),
        (LOCKFILE, lower in LOCKFILES),
        (GENERATED, (not is_prose and _is_generated(head[:_MARKER_BYTES])) or is_recorded(path, head)),
        (MINIFIED, not is_prose and _is_minified(lower, head)),
    )
    flags = {kind for folder in folders if (kind := _FOLDERS.get(folder.lower()))}
    flags |= {flag for flag, pattern in _LOWER if pattern.fullmatch(lower)}
    return frozenset(flags).union(flag for flag, applies in content if applies)


def _is_test(folders: Sequence[str], name: str) -> bool:
    as_written, in_lower_case, in_spec_folder = _test_names()
    stem, _, extension = name.rpartition(".")
    extension = extension.lower()
    written, lower = as_written.get(extension), in_lower_case.get(extension)
    return (
        (written is not None and name.endswith(extension) and written.fullmatch(stem) is not None)
        or (lower is not None and lower.fullmatch(stem.lower()) is not None)
        or (extension in in_spec_folder and any(folder.lower() in ("spec", "specs") for folder in folders))
    )


@cache
def _test_names() -> tuple[dict[str, re.Pattern[str]], dict[str, re.Pattern[str]], frozenset[str]]:
    """Returns patterns of test names by extension, as written and in lower case, and the extensions of files that are
    tests below a folder `spec`."""
    known = languages().values()
    return (
        _compile_by_extension(pair for traits in known for pair in traits.test_names),
        _compile_by_extension(pair for traits in known for pair in traits.test_names_lower),
        frozenset(extension for traits in known for extension in traits.spec_files.split()),
    )


def _compile_by_extension(names: Iterable[tuple[str, str]]) -> dict[str, re.Pattern[str]]:
    stems: dict[str, list[str]] = {}
    for extensions, stem in names:
        for extension in extensions.split():
            stems.setdefault(extension, []).append(stem)
    return {extension: re.compile("|".join(patterns)) for extension, patterns in stems.items()}


def _is_binary(head: bytes) -> bool:
    if b"\0" in head or head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        head = as_utf8(head)
    if b"\0" in head or head.startswith(_BINARY_MAGIC):
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls > len(head) * _CONTROL_SHARE


def _is_generated(start: bytes) -> bool:
    if b"generated" not in start.lower():
        return False
    lines = start.split(b"\n")[:_MARKER_LINES]
    return any(_GENERATED_MARK.search(line) and _COMMENT.match(line) for line in lines) or bool(
        _GENERATED_MARK.search(b" ".join(filter(_COMMENT.match, lines)))
    )


def is_recorded(path: str, head: bytes) -> bool:
    """Tells whether a program recorded the file: nobody reads it line by line."""
    return bool(_RECORDED_PATH.fullmatch(path[-_MARKER_BYTES:].lower()) or _RECORDED_HEAD.match(head[:_MARKER_BYTES]))


def _is_minified(lower_name: str, head: bytes) -> bool:
    if len(head) <= _LONG_LINE * (head.count(b"\n") + 1):
        return False
    return bool(_WEB_SUFFIX.fullmatch(lower_name)) or any(
        len(line) > _ENDLESS_LINE and b" " not in line for line in head.split(b"\n")
    )
