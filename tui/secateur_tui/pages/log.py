"""The Log bench: stretches of lines, each with its beginning."""

from __future__ import annotations

from typing import Any, ClassVar

from secateur_tui.pages.kind_page import KindPage


class LogPage(KindPage[Any, Any]):
    """An item is a stretch of lines, called by their numbers."""

    grows: ClassVar[bool] = True
    label_titles: ClassVar[tuple[str, str]] = ("lines", "beginning")
