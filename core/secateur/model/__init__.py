"""The nouns every other module speaks: fragments and facts of files, the pool of a query, decisions, selections, the
ledger.

All are frozen. A `Pool` is columns (numpy arrays of one length) because ten thousand candidates must re-rank within a
frame; `Selection` is columns over the same rows and materialises a `Decision` object only for the rows somebody looks
at. Scores live in [0, 1] and are quantised to 1e-6 before anything is ordered by them, so order does not depend on a
processor.
"""

from secateur.ledger import Entry, Ledger, ModelCall, Notice, Reason, Redaction, State, TrimAction, TrimReport
from secateur.model.columns import QUANTUM, BoolArray, FloatArray, IntArray, distinct, falling, summed, united
from secateur.model.facts import Annotation, Base, Call, FileFacts, Fragment, FragmentKind, Import
from secateur.model.pool import UNREACHABLE, Channel, LineRange, Pool
from secateur.model.selection import NEVER_OUT, Decision, DecisionShape, Selection, Turn

__all__ = [
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
    "distinct",
    "falling",
    "summed",
    "united",
]
