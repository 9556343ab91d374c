"""Words that say nothing about a repository: names of standard modules and of methods builtin types have.

Kept as data so that answers do not vary with the interpreter that runs.
"""

from __future__ import annotations

_PYTHON_STANDARD = """
abc argparse array ast asyncio base64 bisect builtins calendar code codecs collections concurrent configparser
contextlib copy csv ctypes curses dataclasses datetime decimal difflib dis email enum errno fractions functools gc
getpass glob graphlib gzip hashlib heapq hmac html http importlib inspect io ipaddress itertools json keyword linecache
locale logging math mimetypes multiprocessing numbers operator os pathlib pickle platform pprint profile queue random re
resource sched secrets select selectors shelve shlex shutil signal site socket sqlite3 ssl stat statistics string struct
subprocess symtable sys tempfile test textwrap threading time timeit token tokenize tomllib trace traceback types typing
unittest urllib uuid warnings wave weakref xml zipfile zlib zoneinfo
"""

PYTHON_STANDARD = frozenset(_PYTHON_STANDARD.split())
"""Standard modules an unrelated file of a repository is likely to share its name with."""

_GO_STANDARD = """
archive bufio bytes cmp compress container context crypto database debug embed encoding errors expvar flag fmt go hash
html image index io iter log maps math mime net os path plugin reflect regexp runtime slices sort strconv strings
structs sync syscall testing text time unicode unique unsafe
"""

GO_STANDARD = frozenset(_GO_STANDARD.split())
"""First segments of Go's standard packages."""

_BUILTIN_METHODS = """
add all any append apply as_bytes as_mut as_ref as_str assert_called call capitalize catch charAt chars clear clone
close collect concat contains copy count debug decode delete discard drain emit encode end endsWith endswith entries
equals error every exception exists expect extend extract fetch filter find findIndex first flat flatMap flatten flush
fold forEach format from get getattr group groups has hasNext hasOwnProperty hashCode includes index indexOf info insert
into into_iter isEmpty is_empty is_none is_some isdigit items iter join keys last len length list log lower lstrip map
match max min next ok open partition pop popitem post print push push_back put query raise_for_status read readline
readlines recv reduce remove removeAll render replace reset resolve reverse rfind rsplit rstrip run save search seek
select send set setdefault shift size slice some sort splice split splitlines start startsWith startswith stop stream
strftime strip strptime sub substring sum tell test then title toArray toJSON toLowerCase toString toUpperCase to_owned
to_string translate trim trunc truncate unshift unwrap unwrap_or update upper value values view wait warn warning write
writelines zfill zip
"""

BUILTIN_METHODS = frozenset(_BUILTIN_METHODS.split())
"""Methods of builtin types, streams and loggers in the supported languages: a definition of that name says nothing
about an unknown receiver."""

_C_BUILTINS = """
abort abs assert atoi calloc close exit fclose fflush fgets fopen fprintf fputs fread free fseek fwrite getenv isalpha
isdigit isspace malloc memcmp memcpy memmove memset open perror printf putchar puts qsort read realloc scanf sizeof
snprintf sprintf sscanf strcat strchr strcmp strcpy strdup strerror strlen strncmp strncpy strrchr strstr strtol strtoul
tolower toupper vsnprintf write
"""

_GO_BUILTINS = """
any append bool byte cap clear close complex complex128 complex64 copy delete error float32 float64 imag int int16 int32
int64 int8 len make max min new panic print println real recover rune string uint uint16 uint32 uint64 uint8 uintptr
"""

_JS_BUILTINS = """
AbortController AbortSignal Array ArrayBuffer Atomics BigInt Blob Boolean Buffer Date Error EvalError Event EventTarget
File Float32Array Float64Array FormData Function Headers Int32Array Intl JSON Map Math Number Object Promise Proxy
RangeError ReferenceError Reflect RegExp Request Response Set String Symbol SyntaxError TextDecoder TextEncoder
TypeError URIError URL URLSearchParams Uint8Array WeakMap WeakRef WeakSet WebSocket afterAll afterEach alert atob
beforeAll beforeEach btoa clearInterval clearTimeout console crypto decodeURIComponent describe document
encodeURIComponent eval expect fetch globalThis import isFinite isNaN it jest localStorage navigator parseFloat parseInt
performance process queueMicrotask requestAnimationFrame require sessionStorage setImmediate setInterval setTimeout
structuredClone test vi window
"""

_PHP_BUILTINS = """
array_filter array_key_exists array_keys array_map array_merge array_pop array_push array_shift array_slice array_values
count define empty explode file_get_contents function_exists implode in_array intval is_array is_callable is_null
is_numeric is_object is_string isset json_decode json_encode preg_match preg_replace printf sprintf str_replace strlen
strpos strtolower strtoupper substr trigger_error trim unset var_dump
"""

_PYTHON_BUILTINS = """
ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError
BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError
ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError Exception ExceptionGroup
False FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning
IndentationError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError
ModuleNotFoundError NameError None NotADirectoryError NotImplemented NotImplementedError OSError OverflowError
PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError ResourceWarning RuntimeError
RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError
True TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning
UserWarning ValueError Warning ZeroDivisionError __import__ abs aiter all anext any ascii bin bool breakpoint bytearray
bytes callable chr classmethod compile complex delattr dict dir divmod enumerate eval exec filter float format frozenset
getattr globals hasattr hash help hex id input int isinstance issubclass iter len list locals map max memoryview min
next object oct open ord pow print property range repr reversed round set setattr slice sorted staticmethod str sum
super tuple type vars zip
"""

_RUBY_BUILTINS = """
attr_accessor attr_reader attr_writer block_given? catch extend freeze include lambda loop p print printf private proc
protected public puts raise rand require require_relative sleep sprintf throw
"""

_RUST_BUILTINS = """
Box Err None Ok Some String Vec assert assert_eq assert_ne bail cfg concat dbg debug_assert drop ensure env eprint
eprintln file format format_args include include_bytes include_str info line matches panic print println stringify todo
trace unimplemented unreachable vec warn write writeln
"""

_JAVA_BUILTINS = """
Arrays BigDecimal Boolean Byte Character Class Collections Collectors Double Duration Exception Files Float
IllegalArgumentException IllegalStateException Instant Integer List LocalDate LocalDateTime Long Map Math Object Objects
Optional Path Paths Pattern Runtime RuntimeException Set Short Stream String StringBuilder System Thread UUID
"""

_CSHARP_BUILTINS = """
Activator ArgumentException ArgumentNullException Array Console Convert DateTime Directory Enum Environment Exception
File GC Guid InvalidOperationException Math Path String Task Thread TimeSpan Type nameof typeof
"""

_ELEMENT_METHODS = """
back elementAt find findFirst findAny first floor ceiling front get getFirst getLast getOrDefault getValue last lower
higher next nextElement orElse orElseGet orElseThrow peek peekFirst peekLast pollFirst pollLast poll pop popFirst
popLast pop_back pop_front previous remove removeFirst removeLast take get_mut get_unchecked first_mut last_mut
front_mut back_mut entry or_insert or_insert_with or_default nth min max min_by max_by min_by_key max_by_key load join
into_inner
"""

ELEMENT_METHODS = frozenset(_ELEMENT_METHODS.split())
"""Methods that yield an element of a container, in any language."""

_SAME_METHODS = """
iter iter_mut into_iter iterator listIterator stream parallelStream values entrySet descendingIterator descendingMap
subList limit skip filter sorted distinct toList rev chain cloned copied peekable enumerate by_ref drain as_slice
as_mut_slice to_vec clone step_by take_while skip_while windows values_mut into_values as_ref as_mut collect unwrap
expect borrow borrow_mut lock read write
"""

SAME_METHODS = frozenset(_SAME_METHODS.split())
"""Methods that yield a container of the same elements."""

_UNWRAPPING = """
unwrap unwrap_or unwrap_or_else unwrap_or_default unwrap_unchecked expect ok ok_or ok_or_else clone cloned copied as_ref
as_mut as_deref as_deref_mut borrow borrow_mut lock read write try_lock get_mut get_or_insert_with into_inner to_owned
take replace or_insert or_insert_with or_default or or_else filter inspect context with_context map_err await deref
deref_mut as_pin_mut get_ref into_iter iter by_ref downgrade upgrade into try_into
"""

UNWRAPPING = frozenset(_UNWRAPPING.split())
"""Methods of Rust's optional values, results, pointers and locks that yield what they hold."""

_LIBRARY_RETURNS = {
    "String": (
        "toString trim strip substring toLowerCase toUpperCase getName getSimpleName replace replaceAll"
        " concat repeat name getMessage format"
    ),
    "int": "length size indexOf lastIndexOf hashCode compareTo intValue ordinal nextInt codePointAt",
    "boolean": (
        "isEmpty equals contains containsKey startsWith endsWith hasNext matches booleanValue equalsIgnoreCase add"
    ),
    "char": "charAt charValue",
    "long": "longValue count",
    "double": "doubleValue",
    "float": "floatValue",
    "Class": "getClass getType",
    "char[]": "toCharArray",
    "byte[]": "getBytes",
}

LIBRARY_RETURNS = {name: type_ for type_, names in _LIBRARY_RETURNS.items() for name in names.split()}
"""What methods of Java's standard library return, whichever class they are of: this tells overloads apart."""

BUILTIN_FUNCTIONS = {
    "c": frozenset(_C_BUILTINS.split()),
    "go": frozenset(_GO_BUILTINS.split()),
    "java": frozenset(_JAVA_BUILTINS.split()),
    "csharp": frozenset(_CSHARP_BUILTINS.split()),
    "js": frozenset(_JS_BUILTINS.split()),
    "php": frozenset(_PHP_BUILTINS.split()),
    "python": frozenset(_PYTHON_BUILTINS.split()),
    "ruby": frozenset(_RUBY_BUILTINS.split()),
    "rust": frozenset(_RUST_BUILTINS.split()),
}
"""By language family, names that mean a builtin when no scope of the repository knows them, called or as a receiver."""
