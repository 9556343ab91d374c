"""The nouns every other module speaks: fragments and facts of files, the pool of a query, decisions, selections, the
ledger.

All are frozen. A `Pool` is columns (numpy arrays of one length), because ten thousand candidates must be ranked again
within one frame of the screen. A `Selection` is columns over the same rows, and makes a `Decision` object only for a
row that is looked at. Scores are in [0, 1] and rounded to 1e-6 before they are ordered, so that the order does not
depend on the processor.
"""

from secateur.ledger import Entry, Ledger, ModelCall, Notice, Reason, Redaction, State, TrimAction, TrimReport
from secateur.model.facts import Annotation, Base, Call, FileFacts, Fragment, FragmentKind, Import
from secateur.model.pool import (
    QUANTUM,
    UNREACHABLE,
    BoolArray,
    Channel,
    FloatArray,
    IntArray,
    LineRange,
    Pool,
    add_columns,
    distinct,
    falling,
    union,
)
from secateur.model.selection import LEAST_SAYING, NEVER_OUT, Decision, DecisionShape, Selection, Turn

__all__ = [
    "LEAST_SAYING",
    "NEVER_OUT",
    "QUANTUM",
    "UNREACHABLE",
    "Annotation",
    "Base",
    "BoolArray",
    "Call",
    "Channel",
    "Decision",
    "DecisionShape",
    "Entry",
    "FileFacts",
    "FloatArray",
    "Fragment",
    "FragmentKind",
    "Import",
    "IntArray",
    "Ledger",
    "LineRange",
    "ModelCall",
    "Notice",
    "Pool",
    "Reason",
    "Redaction",
    "Selection",
    "State",
    "TrimAction",
    "TrimReport",
    "Turn",
    "add_columns",
    "distinct",
    "falling",
    "union",
]
