"""Values as TOML on one line, for messages, command lines and new files; tomlkit changes files that a person wrote."""

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str:
    """Writes a value as TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _toml_string(value)
        case Mapping():
            names = (name if _BARE_KEY.fullmatch(name) else _toml_string(name) for name in map(str, value))
            inside = ", ".join(f"{name} = {toml_value(item)}" for name, item in zip(names, value.values(), strict=True))
            return f"{{ {inside} }}" if inside else "{}"
        case list() | tuple():
            return f"[{', '.join(toml_value(item) for item in value)}]"
        case _:
            return str(value)


def _toml_string(value: str) -> str:
    """Writes a basic string: JSON's escapes are among TOML's; what no terminal should be sent is escaped too."""
    written = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    codes = ((one, ord(one)) for one in written)
    return "".join(
        one if one.isprintable() else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}" for one, code in codes
    )
