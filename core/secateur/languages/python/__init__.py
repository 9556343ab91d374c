"""Python."""

from secateur.languages.syntax.names import words
from secateur.languages.traits import PYTHON_SILENT, Grammar, LanguageTraits, NameRules

# Standard modules an unrelated file of a repository is likely to share its name with.
STANDARD = words(
    """
abc argparse array ast asyncio base64 bisect builtins calendar code codecs collections concurrent configparser
contextlib copy csv ctypes curses dataclasses datetime decimal difflib dis email enum errno fractions functools gc
getpass glob graphlib gzip hashlib heapq hmac html http importlib inspect io ipaddress itertools json keyword linecache
locale logging math mimetypes multiprocessing numbers operator os pathlib pickle platform pprint profile queue random re
resource sched secrets select selectors shelve shlex shutil signal site socket sqlite3 ssl stat statistics string struct
subprocess symtable sys tempfile test textwrap threading time timeit token tokenize tomllib trace traceback types typing
unittest urllib uuid warnings wave weakref xml zipfile zlib zoneinfo
"""
)


RULES = NameRules(
    family="python",
    finder="secateur.languages.python.imports:PythonFinder",
    manifests="secateur.languages.python.imports:PythonManifests",
    builtins=words(
        "ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError"
        " BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError"
        " ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning"
        " EnvironmentError Exception ExceptionGroup False FileExistsError FileNotFoundError FloatingPointError"
        " FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError IndexError InterruptedError"
        " IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError None"
        " NotADirectoryError NotImplemented NotImplementedError OSError OverflowError PendingDeprecationWarning"
        " PermissionError ProcessLookupError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning"
        " StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError True"
        " TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError"
        " UnicodeWarning UserWarning ValueError Warning ZeroDivisionError __import__ abs aiter all anext any ascii bin"
        " bool breakpoint bytearray bytes callable chr classmethod compile complex delattr dict dir divmod enumerate"
        " eval exec filter float format frozenset getattr globals hasattr hash help hex id input int isinstance"
        " issubclass iter len list locals map max memoryview min next object oct open ord pow print property range repr"
        " reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip"
    ),
    constructors=("__init__", "__new__", "__post_init__"),
    self_words=words("self cls"),
    super_words=words("super"),
    super_is_constructor=False,
    exports_imports=True,
    binds_first_segment=True,
    stars_hide_unknown=True,
    receivers_are_chains=True,
    names_are_values=True,
)

LANGUAGES = (
    LanguageTraits(
        name="python",
        extensions="py pyi pyw",
        file_names="sconstruct sconscript wscript",
        interpreters="python pypy",
        test_names_lower=(("py pyi", r"test_.*"), ("py", r"(conftest|tests?)|.*[-_](tests?|unittest)")),
        grammar=Grammar("tree_sitter_python", "secateur.languages.python.reader"),
        silent=PYTHON_SILENT,
        lines_end_statements=True,
        rules=RULES,
        line_comment="#",
        block_comments=False,
        triple_quotes=True,
    ),
)
