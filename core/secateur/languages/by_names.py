"""Languages whose queries say all that is read of them, resolved by scopes, packages and names; see `read_by_names`."""

from secateur.languages import traits
from secateur.languages.syntax.names import words

LANGUAGES = (
    traits.LanguageTraits(
        name="dart",
        extensions="dart",
        test_names_lower=(("dart", traits.TESTED),),
        grammar=traits.Grammar("tree_sitter_dart", __name__),
        silent=traits.JAVA_SILENT,
        rules=traits.NameRules(
            family="dart",
            builtins=words(
                "DateTime Duration Exception Function Future Iterable List Map Null Object Set Stream String Uri assert"
                " bool double dynamic identical int num print setState"
            ),
            self_words=words("this"),
            super_words=words("super"),
            implicit_self=True,
            links_by_name=True,
        ),
        triple_quotes=True,
        keywords=words(
            "abstract as assert async await base break case catch class const continue covariant default deferred do"
            " else enum export extends extension external factory false final finally for get if implements import in"
            " interface is late library mixin new null on operator part required rethrow return sealed set static super"
            " switch sync this throw true try typedef var void while with yield"
        ),
    ),
    traits.LanguageTraits(  # definitions are macro calls, which the query recognises by name
        name="elixir",
        extensions="ex exs",
        interpreters="elixir",
        line_comment="#",
        block_comments=False,
        triple_quotes=True,
        test_names_lower=(("ex exs", traits.TEST_FILE),),
        spec_files="ex exs",
        grammar=traits.Grammar("tree_sitter_elixir", __name__),
        rules=traits.NameRules(
            family="elixir",
            builtins=words(
                "Agent Application Atom Base Date DateTime Enum File GenServer IO Integer Kernel Keyword List Logger"
                " Map MapSet Module Node Path Process Regex Registry Stream String Supervisor System Task Time Tuple"
                " URI elem hd inspect is_atom is_binary is_list is_map is_nil length map_size put_elem raise send spawn"
                " tl to_string"
            ),
            self_words=words("__MODULE__"),
            implicit_self=True,
            links_by_name=True,
        ),
        keywords=words(
            "after alias and case catch cond def defdelegate defexception defimpl defmacro defmacrop defmodule defp"
            " defprotocol defstruct do else end false fn for if import in nil not or quote raise receive require rescue"
            " throw true try unless unquote use when with"
        ),
    ),
    traits.LanguageTraits(
        name="kotlin",
        extensions="kt kts",
        test_names=(("kt kts", traits.CAMEL_CASE_TEST), ("kt", r"Test[A-Z0-9]\w*|\w+(Spec|Suite)")),
        grammar=traits.Grammar("tree_sitter_kotlin", __name__),
        silent=traits.JAVA_SILENT,
        rules=traits.NameRules(
            family="kotlin",
            finder="secateur.languages.syntax.import_targets:PackageFinder",
            builtins=words(
                "Any Boolean Byte Char Double Float Int List Long Map Pair Regex Set Short String Triple Unit also"
                " apply arrayOf check emptyList emptyMap error let listOf mapOf mutableListOf mutableMapOf print"
                " println repeat require requireNotNull run setOf takeIf to with"
            ),
            self_words=words("this"),
            super_words=words("super"),
            packages="declared",
            class_scope="package",
            implicit_self=True,
        ),
        triple_quotes=True,
        keywords=words(
            "abstract annotation as break by catch class companion const constructor continue data do else enum false"
            " final finally for fun if import in infix init inline interface internal is lateinit null object open"
            " operator out override package private protected public return sealed super suspend this throw true try"
            " typealias val var vararg when where while"
        ),
    ),
    traits.LanguageTraits(
        name="lua",
        extensions="lua",
        interpreters="lua luajit",
        line_comment="--",
        block_comments=False,
        test_names_lower=(("lua", traits.TEST_FILE + r"|.*\.(test|tests|spec|specs|e2e|cy)|.*_spec"),),
        spec_files="lua",
        grammar=traits.Grammar("tree_sitter_lua", __name__),
        rules=traits.NameRules(
            family="lua",
            builtins=words(
                "assert coroutine debug error getmetatable io ipairs load loadfile loadstring math next os pairs pcall"
                " print rawequal rawget rawset require select setmetatable string table tonumber tostring type unpack"
                " utf8 xpcall"
            ),
            self_words=words("self"),
            links_by_name=True,
        ),
        keywords=words(
            "and break do else elseif end false for function goto if in local nil not or repeat return then true until"
            " while"
        ),
    ),
    traits.LanguageTraits(  # Scala 2 and 3
        name="scala",
        extensions="scala sc sbt",
        test_names=(("scala", traits.CAMEL_CASE_TEST + r"|Test[A-Z0-9]\w*|\w+(Spec|Suite)"),),
        grammar=traits.Grammar("tree_sitter_scala", __name__),
        silent=traits.JAVA_SILENT,
        rules=traits.NameRules(
            family="scala",
            finder="secateur.languages.syntax.import_targets:PackageFinder",
            builtins=words(
                "Array Boolean Byte Char Double Either Float Int Iterator Left List Long Map Math Nil None Option"
                " Right Seq Set Short Some StringBuilder System Unit Vector assert assume identity implicitly locally"
                " print printf println require summon"
            ),
            constructors=("apply",),
            self_words=words("this"),
            super_words=words("super"),
            packages="declared",
            class_scope="package",
            implicit_self=True,
            has_packages_as_names=True,
        ),
        triple_quotes=True,
        keywords=words(
            "abstract case catch class def do else end enum export extends extension false final finally for forSome"
            " given if implicit import inline lazy match new null object opaque override package private protected"
            " return sealed super then this throw trait transparent true try type using val var while with yield"
        ),
    ),
    traits.LanguageTraits(  # any sourced file may define a function
        name="shell",
        extensions="sh bash zsh ksh fish bats",
        file_names=".bashrc .profile .zshrc .bash_profile",
        interpreters="sh bash dash zsh ksh fish",
        line_comment="#",
        block_comments=False,
        test_names_lower=(("sh", traits.TEST_FILE), ("bats", r".*")),
        grammar=traits.Grammar("tree_sitter_bash", __name__),
        silent=traits.SHELL_SILENT,
        lines_end_statements=True,
        rules=traits.NameRules(
            family="shell",
            builtins=words(
                "alias awk basename bash break cat cd chmod chown command continue cp curl cut date declare dirname"
                " docker echo env eval exec exit export expr false find getopts git grep head kill let ln local ls make"
                " mkdir mktemp mv popd printf pushd pwd python read readonly return rm rmdir sed set sh shift sleep"
                " sort source sudo tail tar tee test touch tr trap true type ulimit umask uname uniq unset wait wc"
                " which xargs"
            ),
            links_by_name=True,
        ),
    ),
    traits.LanguageTraits(  # files of one module need no imports for each other
        name="swift",
        extensions="swift",
        test_names=(("swift", traits.CAMEL_CASE_TEST + r"|\w+(Spec|Suite)"),),
        grammar=traits.Grammar("tree_sitter_swift", __name__),
        silent=traits.JAVA_SILENT,
        rules=traits.NameRules(
            family="swift",
            builtins=words(
                "Any Array Bool Character Data Date Dictionary Double Error Float Int Int64 Never Optional Result Set"
                " String UInt URL UUID Void abs assert debugPrint fatalError max min precondition print zip"
            ),
            constructors=("init",),
            self_words=words("self"),
            super_words=words("super"),
            implicit_self=True,
            links_by_name=True,
            opens_types=True,
        ),
        triple_quotes=True,
        keywords=words(
            "actor as associatedtype async await break case catch class continue default defer deinit do else enum"
            " extension fallthrough false fileprivate final for func guard if import in init inout internal is lazy let"
            " mutating nil open override private protocol public repeat rethrows return self some static struct"
            " subscript super switch throw throws true try typealias var weak where while"
        ),
    ),
    traits.LanguageTraits(  # also other HCL: every top-level block is a unit, named by its labels
        name="terraform",
        extensions="tf tfvars hcl tofu",
        line_comment="#",
        grammar=traits.Grammar("tree_sitter_hcl", __name__),
    ),
)
