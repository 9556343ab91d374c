"""Git diffs: coverage, chunks, injection."""

from secateur.kinds.diff.chunks import Chunk, Chunks, FilePart, chunk, chunk_diff, finish
from secateur.kinds.diff.parsing import parse_diff
from secateur.kinds.diff.planning import plan_chunks
from secateur.kinds.diff.weighing import weigh

__all__ = ["Chunk", "Chunks", "FilePart", "chunk", "chunk_diff", "finish", "parse_diff", "plan_chunks", "weigh"]
