"""What the pruners ask of a language model, and what comes back. Off by default; nothing here needs one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from secateur.llm.asking import LanguageModel
    from secateur.settings import Llm


def open_model(settings: Llm, environ: Mapping[str, str]) -> LanguageModel | None:
    """Whoever answers by `[llm]`; None where it is off. Nothing is sent yet.

    Args:
        environ: where the key's variable is looked up (`os.environ`).

    Raises:
        ConfigError: no address, no model, or an address that is none.
        LlmError: the named variable is not set, holds no key that can be sent, or the extra is not installed.
    """
    if not settings.enabled:
        return None
    from secateur.llm.opening import opened

    return opened(settings, environ)
