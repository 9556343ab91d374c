"""JavaScript, TypeScript and TSX, and components that hold scripts."""

from functools import partial

from secateur.languages.syntax.names import words
from secateur.languages.traits import SCRIPT_SILENT, TESTED, Grammar, LanguageTraits, NameRules

RULES = NameRules(
    family="js",
    finder="secateur.languages.ecmascript.imports:ScriptFinder",
    manifests="secateur.languages.ecmascript.imports:ScriptManifests",
    builtins=words(
        "AbortController AbortSignal Array ArrayBuffer Atomics BigInt Blob Boolean Buffer Date Error EvalError Event"
        " EventTarget File Float32Array Float64Array FormData Function Headers Int32Array Intl JSON Map Math Number"
        " Object Promise Proxy RangeError ReferenceError Reflect RegExp Request Response Set String Symbol SyntaxError"
        " TextDecoder TextEncoder TypeError URIError URL URLSearchParams Uint8Array WeakMap WeakRef WeakSet WebSocket"
        " afterAll afterEach alert atob beforeAll beforeEach btoa clearInterval clearTimeout console crypto"
        " decodeURIComponent describe document encodeURIComponent eval expect fetch globalThis import isFinite isNaN it"
        " jest localStorage navigator parseFloat parseInt performance process queueMicrotask requestAnimationFrame"
        " require sessionStorage setImmediate setInterval setTimeout structuredClone test vi window"
    ),
    constructors=("constructor",),
    self_words=words("this"),
    super_words=words("super"),
    guesses_functions=True,
    has_default_export=True,
    receivers_are_chains=True,
    names_are_values=True,
)

_SCRIPTS = "js jsx mjs cjs ts tsx mts cts"
_READER = "secateur.languages.ecmascript.reader"
_language = partial(LanguageTraits, silent=SCRIPT_SILENT, is_often_minified=True, rules=RULES)

LANGUAGES = (
    _language(
        name="javascript",
        extensions="js jsx mjs cjs",
        interpreters="node nodejs",
        test_names_lower=((_SCRIPTS, r".*\.(test|tests|spec|specs|e2e|cy)"), ("js", TESTED), ("snap", r".*")),
        spec_files=_SCRIPTS,
        grammar=Grammar("tree_sitter_javascript", _READER, queries="ecmascript javascript jsx"),
    ),
    _language(
        name="typescript",
        extensions="ts mts cts",
        interpreters="deno bun",
        test_names_lower=(("ts", TESTED),),
        grammar=Grammar("tree_sitter_typescript", _READER, "language_typescript", "ecmascript typescript"),
    ),
    _language(
        name="tsx",
        extensions="tsx",
        grammar=Grammar("tree_sitter_typescript", _READER, "language_tsx", "ecmascript typescript jsx"),
    ),
    *(
        _language(name=name, extensions=name, test_names_lower=((name, r".*\.(test|tests|spec|specs|e2e|cy)"),))
        for name in ("astro", "svelte", "vue")
    ),
)
