"""Git diffs: coverage, chunks, injection."""

from secateur.kinds.diff.chunks import Chunk, Chunks, FilePart, chunk, chunk_diff, finish
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.kinds.diff.measured_diff import measure_diff
from secateur.kinds.diff.plan import plan_chunks

__all__ = ["Chunk", "Chunks", "FilePart", "chunk", "chunk_diff", "finish", "measure_diff", "parse_diff", "plan_chunks"]
