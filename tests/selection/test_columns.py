"""The orders and sets of columns are those of numpy."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from secateur.model import distinct

NUMBERS = st.lists(st.integers(0, 9), max_size=40)


@given(NUMBERS, st.sampled_from([np.int32, np.int64, np.uint64, np.float64]))
def test_distinct_values_are_those_of_numpy(numbers: list[int], kind: type[np.generic]) -> None:
    values = np.array(numbers, dtype=kind)
    ours, theirs = distinct(values), np.unique(values, return_index=True, return_inverse=True)
    assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))
    assert ours[0].dtype == values.dtype


def test_a_search_does_without_the_masked_arrays_of_numpy() -> None:
    program = (
        "import sys, tempfile, pathlib, secateur\n"
        "folder = pathlib.Path(tempfile.mkdtemp())\n"
        "(folder / 'a.py').write_text('def total(x):\\n    return helper(x)\\ndef helper(x):\\n    return x\\n')\n"
        "settings = secateur.Settings(profile='recommended')\n"
        "with secateur.Engine.open(folder) as engine:\n"
        "    for profile in ('spec', 'recommended'):\n"
        "        from secateur.settings import with_profile\n"
        "        engine.settings = with_profile(engine.settings, profile)\n"
        "        assert 'total' in engine.render(engine.search('where is the total?', use_cache=False))\n"
        "print('numpy.ma' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
