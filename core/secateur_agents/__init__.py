"""Everything in secateur for coding agents: pruning while they work, their sessions on this machine, and the server
that they call.

    from secateur_agents import Live, Store
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from secateur_agents.live import CacheEffect, Live, Step
    from secateur_agents.store import OriginalStore as Store

__all__ = ["CacheEffect", "Live", "Step", "Store"]


def __getattr__(name: str) -> Any:
    """Imports a name at its first use, because every command imports this package."""
    if name not in __all__:
        raise AttributeError(f"module 'secateur_agents' has no attribute {name!r}")
    from secateur_agents import live, store

    return store.OriginalStore if name == "Store" else getattr(live, name)
