"""The texture and letter of each signal, so that nothing depends on colour alone."""

from typing import NamedTuple

from secateur.model import UNREACHABLE, Pool
from secateur.settings import Settings


class Signal(NamedTuple):
    """A term of the priority on screen; `name` is also its role in the stylesheet."""

    name: str
    letter: str
    texture: str


SIGNALS = {
    "relevance": Signal("relevance", "R", "█"),
    "hotspot": Signal("hotspot", "H", "▓"),
    "distance": Signal("distance", "D", "▒"),
    "preference": Signal("preference", "P", "░"),
    "boost": Signal("boost", "B", "▞"),
}


def effective_distance(pool: Pool, settings: Settings, row: int) -> int:
    """Distance of a row as the priority sees it: beyond the depth in force it counts as unreached."""
    distance = int(pool.distance[row])
    return distance if distance <= settings.graph_rag.max_depth + 1 else UNREACHABLE


def value_and_weight(name: str, pool: Pool, settings: Settings, row: int) -> tuple[float, float] | None:
    """(value, weight) whose product is the term; None for a boost, which is a factor on the other terms."""
    weights = settings.smart_pruning.priority_weights
    if name == "relevance":
        return float(pool.relevance[row]), weights.relevance
    if name == "hotspot":
        return float(pool.hotspot[row]), weights.hotspot
    if name == "distance":
        distance = effective_distance(pool, settings, row)
        return (1 / distance if distance else 0.0), weights.distance
    if name == "preference":
        return float(pool.preference[row]), settings.preference.weight
    return None
