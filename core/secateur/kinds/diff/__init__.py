"""Git diffs: coverage, chunks, injection."""

from secateur.kinds.diff.chunks import chunk_diff, chunk_measured_diff, render_chunks
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.kinds.diff.measured_diff import measure_diff
from secateur.kinds.diff.plan import plan_chunks

__all__ = ["chunk_diff", "chunk_measured_diff", "measure_diff", "parse_diff", "plan_chunks", "render_chunks"]
