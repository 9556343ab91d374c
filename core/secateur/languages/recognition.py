"""Which language a file is in: by its name, its extension, the first bytes of scripts and of ambiguous C headers.

The names returned here are the vocabulary of `FileFacts.language` and `Pool.language`. Anything unknown is "text".
"""

from __future__ import annotations

import re

_EXTENSIONS = {
    "python": "py pyi pyw",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "java": "java",
    "rust": "rs",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp cu cuh ino",
    "csharp": "cs csx",
    "ruby": "rb rake gemspec ru",
    "php": "php phtml php5 php7 inc",
    "markdown": "md markdown mdx mkd",
    "restructuredtext": "rst rest",
    "asciidoc": "adoc asciidoc asc",
    "toml": "toml",
    "yaml": "yaml yml",
    "json": "json jsonc json5 webmanifest geojson",
    "ini": "ini cfg conf editorconfig gitconfig desktop service",
    "properties": "properties env",
    "dockerfile": "dockerfile containerfile",
    "makefile": "mk mak make",
    "cmake": "cmake",
    "html": "html htm xhtml vue svelte astro",
    "xml": "xml xsd xsl xslt svg csproj fsproj vbproj props targets plist pom xaml resx",
    "css": "css scss sass less styl",
    "sql": "sql ddl",
    "shell": "sh bash zsh ksh fish bats",
    "powershell": "ps1 psm1 psd1",
    "batch": "bat cmd",
    "kotlin": "kt kts",
    "swift": "swift",
    "scala": "scala sc sbt",
    "groovy": "groovy gradle gvy",
    "lua": "lua",
    "perl": "pl pm",
    "r": "r",
    "julia": "jl",
    "dart": "dart",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "haskell": "hs lhs",
    "ocaml": "ml mli",
    "fsharp": "fs fsi fsx",
    "clojure": "clj cljs cljc edn",
    "lisp": "lisp el scm rkt",
    "zig": "zig",
    "nim": "nim",
    "objective-c": "m mm",
    "visual-basic": "vb vbs",
    "protobuf": "proto",
    "graphql": "graphql gql",
    "terraform": "tf tfvars hcl",
    "assembly": "s asm",
    "vim": "vim",
    "diff": "diff patch",
    "csv": "csv tsv",
    "tex": "tex sty cls bib",
    "template": "j2 jinja jinja2 tmpl tpl erb ejs hbs mustache liquid twig",
}
_BY_EXTENSION = {
    extension: language for language, extensions in _EXTENSIONS.items() for extension in extensions.split()
}

_BY_NAME = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "makefile",
    "gnumakefile": "makefile",
    "cmakelists.txt": "cmake",
    "rakefile": "ruby",
    "gemfile": "ruby",
    "guardfile": "ruby",
    "podfile": "ruby",
    "vagrantfile": "ruby",
    "brewfile": "ruby",
    "jenkinsfile": "groovy",
    "build": "starlark",
    "build.bazel": "starlark",
    "workspace": "starlark",
    "sconstruct": "python",
    "sconscript": "python",
    "wscript": "python",
    "pipfile": "toml",
    "cargo.lock": "toml",
    "poetry.lock": "toml",
    "uv.lock": "toml",
    "composer.lock": "json",
    "pipfile.lock": "json",
    ".babelrc": "json",
    ".eslintrc": "json",
    ".prettierrc": "json",
    ".clang-format": "yaml",
    ".gitconfig": "ini",
    ".gitmodules": "ini",
    ".editorconfig": "ini",
    ".npmrc": "ini",
    ".env": "properties",
    ".bashrc": "shell",
    ".profile": "shell",
    ".zshrc": "shell",
    "readme": "text",
}

_INTERPRETERS = {
    "python": "python",
    "pypy": "python",
    "node": "javascript",
    "nodejs": "javascript",
    "deno": "typescript",
    "bun": "typescript",
    "ruby": "ruby",
    "php": "php",
    "sh": "shell",
    "bash": "shell",
    "dash": "shell",
    "zsh": "shell",
    "ksh": "shell",
    "fish": "shell",
    "perl": "perl",
    "lua": "lua",
    "rscript": "r",
    "groovy": "groovy",
    "make": "makefile",
}

_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?)?([A-Za-z]+)")
_CPP_SIGNS = re.compile(
    rb"^[ \t]*(?:class\s+\w+|namespace\b|template\s*<|using\s+\w|public:|private:|protected:)|\bstd::|^[ \t]*#["
    rb" \t]*include[ \t]*<[a-z_]+>",
    re.MULTILINE,
)
HEAD_BYTES = 16384
"""Bytes of a file's beginning that are looked at to tell C++ headers from C headers."""


def language_of(path: str, head: bytes = b"") -> str:
    """The language of the file at `path` ("/" between folders), "text" when nothing tells.

    `head` is the beginning of its bytes (`HEAD_BYTES` are enough); without it scripts that have no extension are "text"
    and `.h` is "c".
    """
    name = path.rsplit("/", 1)[-1].lower()
    known = _BY_NAME.get(name)
    if known:
        return known
    if name.startswith(("dockerfile.", "containerfile.")):
        return "dockerfile"
    if name.startswith("makefile."):
        return "makefile"
    if name.startswith(".env."):
        return "properties"
    stem, dot, extension = name.rpartition(".")
    language = _BY_EXTENSION.get(extension) if dot and stem else None
    if language == "c" and extension == "h" and _CPP_SIGNS.search(head[:HEAD_BYTES]):
        return "cpp"
    if language:
        return language
    script = _SHEBANG.match(head[:256])
    if script:
        return _INTERPRETERS.get(script[1].decode("ascii").lower(), "text")
    return "text"
