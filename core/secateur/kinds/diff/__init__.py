"""Git diffs: coverage, chunks, injection."""

from secateur.kinds.diff.chunks import Chunk, Chunks, FilePart, chunk, chunk_diff, finish
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.kinds.diff.measured_diff import weigh
from secateur.kinds.diff.plan import plan_chunks

__all__ = ["Chunk", "Chunks", "FilePart", "chunk", "chunk_diff", "finish", "parse_diff", "plan_chunks", "weigh"]
