"""Languages without a grammar: documents, configuration, and code that is split into blocks of lines."""

from functools import partial

from secateur.languages import csharp, ecmascript, php, ruby
from secateur.languages.traits import CAMEL_CASE_TEST, TEST_FILE, TESTED, LanguageTraits, NameRules

_text = partial(LanguageTraits, is_code=False)
_hash = partial(LanguageTraits, line_comment="#", block_comments=False)
_data = partial(LanguageTraits, line_comment="", block_comments=False)
_semicolon = partial(LanguageTraits, line_comment=";", block_comments=False)
_percent = partial(LanguageTraits, line_comment="%", block_comments=False)

# Programming languages of which only the extensions are known.
_OTHERS = {
    "ada": "adb ads", "agda": "agda", "apex": "apex", "awk": "awk", "ballerina": "bal", "bicep": "bicep",
    "cairo": "cairo", "cobol": "cob cbl cpy cobol", "coffeescript": "coffee iced", "coq": "v", "d": "d di",
    "elm": "elm", "fortran": "f f77 f90 f95 f03 f08 for ftn fypp", "gdscript": "gd", "gleam": "gleam", "haxe": "hx",
    "idris": "idr", "jsonnet": "jsonnet libsonnet", "lean": "lean", "matlab": "mlx", "mojo": "mojo", "move": "move",
    "nextflow": "nf wdl", "nix": "nix", "odin": "odin", "pascal": "pas pp dpr lpr", "prisma": "prisma",
    "prolog": "pro plg", "puppet": "epp", "purescript": "purs", "raku": "raku rakumod", "reason": "re rei res resi",
    "rego": "rego", "sas": "sas", "shader": "glsl hlsl wgsl vert frag metal", "smalltalk": "st", "smithy": "smithy",
    "solidity": "sol", "stata": "do ado", "tcl": "tcl tk exp", "thrift": "thrift", "vala": "vala vapi",
    "verilog": "sv svh vh", "vhdl": "vhd vhdl", "vyper": "vy", "wren": "wren",
}  # fmt: skip

_MACROS = NameRules(family="template", links_by_name=True)  # macros of Jinja, also between statements of SQL

_DOCUMENTS = (
    _text(name="text", file_names="readme"),
    _text(name="markdown", extensions="md markdown mdx mkd"),
    _text(name="restructuredtext", extensions="rst rest"),
    _text(name="asciidoc", extensions="adoc asciidoc asc"),
    _text(name="csv", extensions="csv tsv"),
    _text(name="html", extensions="html htm xhtml", rules=ecmascript.RULES),
    _text(name="xml", extensions="xml xsd xsl xslt svg csproj fsproj vbproj props targets plist pom xaml resx"),
    _text(name="diff", extensions="diff patch"),
    _data(
        name="json",
        extensions="json jsonc json5 webmanifest geojson",
        file_names="composer.lock pipfile.lock .babelrc .eslintrc .prettierrc",
        line_comment="//",
        block_comments=True,
    ),
    _hash(name="toml", extensions="toml", file_names="pipfile cargo.lock poetry.lock uv.lock"),
    _hash(name="yaml", extensions="yaml yml", file_names=".clang-format"),
    _hash(
        name="ini",
        extensions="ini cfg conf editorconfig gitconfig desktop service",
        file_names=".gitconfig .gitmodules .editorconfig .npmrc",
    ),
    _hash(name="properties", extensions="properties env", file_names=".env", file_prefixes=".env."),
    _hash(
        name="dockerfile",
        extensions="dockerfile containerfile",
        file_names="dockerfile containerfile",
        file_prefixes="dockerfile. containerfile.",
    ),
    _hash(
        name="makefile",
        extensions="mk mak make",
        file_names="makefile gnumakefile",
        file_prefixes="makefile.",
        interpreters="make",
    ),
    _hash(name="graphql", extensions="graphql gql"),
    LanguageTraits(name="css", extensions="css scss sass less styl"),
    LanguageTraits(name="sql", extensions="sql ddl pls plsql pkb pks pkg prc", line_comment="--", rules=_MACROS),
    LanguageTraits(name="protobuf", extensions="proto"),
    _percent(name="tex", extensions="tex sty cls bib"),
)

# Their functions are found without a grammar, by indentation: status and answers name their files.
_BY_INDENTATION = (
    _text(
        name="template",
        rules=_MACROS,
        extensions="j2 jinja jinja2 tmpl tpl hbs handlebars mustache liquid twig njk gotmpl ftl vm jsp jspx aspx ascx"
        " vbhtml haml slim pug jade ep mako eta leaf heex eex leex marko",
    ),
    # Templates that call functions of one language
    _text(name="blade", extensions="blade.php", rules=php.LANGUAGES[0].rules),
    _text(name="ejs", extensions="ejs", rules=ecmascript.RULES),
    _text(name="erb", extensions="erb rhtml", rules=ruby.LANGUAGES[0].rules),
    _text(name="razor", extensions="razor cshtml", rules=csharp.LANGUAGES[0].rules),
    _hash(name="cmake", extensions="cmake", file_names="cmakelists.txt"),
    _hash(name="starlark", file_names="build build.bazel workspace", triple_quotes=True),
    _hash(name="powershell", extensions="ps1 psm1 psd1"),
    _data(name="batch", extensions="bat cmd"),
    _hash(name="perl", extensions="pl pm t", interpreters="perl", test_names=(("t", r".*"),)),
    _hash(name="r", extensions="r", interpreters="rscript", test_names_lower=(("r", r"test-.*"),)),
    _hash(name="julia", extensions="jl", triple_quotes=True, test_names_lower=(("jl", TEST_FILE),)),
    _hash(name="crystal", extensions="cr", test_names_lower=(("cr", r".*_spec"),), spec_files="cr"),
    _hash(name="nim", extensions="nim", test_names_lower=(("nim", r"test_.*"),)),
    LanguageTraits(
        name="groovy",
        extensions="groovy gradle gvy",
        file_names="jenkinsfile",
        interpreters="groovy",
        triple_quotes=True,
        test_names=(("groovy", CAMEL_CASE_TEST + r"|Test[A-Z0-9]\w*|\w+(Spec|Suite)"),),
    ),
    _percent(name="erlang", extensions="erl hrl", test_names_lower=(("erl", TESTED),)),
    LanguageTraits(
        name="haskell",
        extensions="hs lhs",
        line_comment="--",
        block_comments=False,
        test_names=(("hs", r"\w+(Spec|Suite)"),),
    ),
    _data(name="ocaml", extensions="ml mli", test_names_lower=(("ml", TEST_FILE),)),
    LanguageTraits(
        name="fsharp",
        extensions="fs fsi fsx",
        block_comments=False,
        triple_quotes=True,
        test_names=(("fs", CAMEL_CASE_TEST),),
    ),
    _semicolon(name="clojure", extensions="clj cljs cljc edn", test_names_lower=(("clj cljs", TESTED),)),
    _semicolon(name="lisp", extensions="lisp el scm rkt"),
    LanguageTraits(name="zig", extensions="zig", block_comments=False, test_names_lower=(("zig", TEST_FILE),)),
    LanguageTraits(name="objective-c", extensions="m mm", test_names=(("m mm", CAMEL_CASE_TEST),)),
    _data(name="visual-basic", extensions="vb vbs bas", test_names=(("vb", CAMEL_CASE_TEST),)),
    _semicolon(name="assembly", extensions="s asm"),
    _data(name="vim", extensions="vim"),
    *(LanguageTraits(name=name, extensions=extensions) for name, extensions in _OTHERS.items()),
)

LANGUAGES = _DOCUMENTS + _BY_INDENTATION
COMPONENTS = frozenset({"astro", "svelte", "vue"})  # text with elements, and scripts that know its names
MARKUP = COMPONENTS | {"html", "template", "blade", "ejs", "erb", "razor"}  # text with elements
UNPARSED = frozenset(traits.name for traits in _BY_INDENTATION)
