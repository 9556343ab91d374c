"""What may be named as a cluster, and where its parts may listen."""

from __future__ import annotations

import pytest
from secateur.errors import SecateurError, UsageError
from secateur.executors.dask_cluster import check_address, check_contacts


@pytest.mark.parametrize(
    "text", ["tcp://127.0.0.1:8786", "tcp://localhost:1", "tcp://[::1]:8786", "tcp://127.8.9.1:65535"]
)
def test_this_machine_needs_no_encryption(text: str) -> None:
    check_address(text)


@pytest.mark.parametrize("text", ["tls://10.0.0.1:8786", "tls://build.example:1", "tls://127.0.0.1:8786"])
def test_an_encrypted_address_may_lead_anywhere(text: str) -> None:
    check_address(text)


@pytest.mark.parametrize(
    "text", ["tcp://10.0.0.1:8786", "tcp://build:8786", "tcp://localhost.example:1", "tcp://0.0.0.0:1", "tcp://[::]:1"]
)
def test_beyond_this_machine_nothing_goes_unencrypted(text: str) -> None:
    with pytest.raises(UsageError, match="is not encrypted, and leads beyond this machine") as raised:
        check_address(text)
    assert raised.value.code == "CLUSTER_UNSAFE"


@pytest.mark.parametrize(
    "text",
    ["", "8786", "127.0.0.1:8786", "tcp://127.0.0.1", "tcp://127.0.0.1:0", "tcp://127.0.0.1:65536", "inproc://x/1/1",
     "ucx://127.0.0.1:1", "tls://user@host:1", "tcp://127.0.0.1:8786/x", "tls://ho st:1", "tcp://127.0.0.1:8786\n"],
)  # fmt: skip
def test_what_is_no_address_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a cluster"):
        check_address(text)


def test_every_part_of_a_cluster_listens_safely_or_is_named() -> None:
    safe = {"its scheduler": "tls://10.0.0.1:8786", "worker 1": "tcp://127.0.0.1:1", "worker 2": "tcp://[::1]:2"}
    check_contacts(safe)
    for address in ("tcp://10.0.0.2:1", "tcp://0.0.0.0:1", "ws://127.0.0.1:1", "10.0.0.2:1", ""):
        with pytest.raises(SecateurError, match="open to the network: worker 3 listens") as raised:
            check_contacts(safe | {"worker 3": address})
        assert "docs/reference/cluster.md" in raised.value.hint
