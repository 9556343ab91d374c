"""Git diffs: coverage, chunks, injection."""

from secateur.chunking.chunks import Chunk, Chunks, FilePart, chunk, chunk_diff, finish
from secateur.chunking.parsing import parse_diff
from secateur.chunking.planning import plan_chunks
from secateur.chunking.weighing import weigh

__all__ = ["Chunk", "Chunks", "FilePart", "chunk", "chunk_diff", "finish", "parse_diff", "plan_chunks", "weigh"]
