"""The texts that are addresses of repositories, and those that could do more than name one."""

from __future__ import annotations

import pytest
from secateur.errors import UsageError
from secateur.sources.git_addresses import REFUSED, git_address


@pytest.mark.parametrize(
    ("text", "url", "name"),
    [
        ("https://github.com/pallets/flask", "https://github.com/pallets/flask", "flask"),
        ("HTTPS://GitHub.com/pallets/flask.git/", "https://github.com/pallets/flask.git", "flask"),
        ("https://git.example.com:8443/~mei/a%20b.git", "https://git.example.com:8443/~mei/a%20b.git", "a_20b"),
        ("ssh://git@example.com:2222/srv/shop.git", "ssh://git@example.com:2222/srv/shop.git", "shop"),
        ("ssh://[::1]/srv/shop", "ssh://[::1]/srv/shop", "shop"),
        ("git@github.com:pallets/flask.git", "git@github.com:pallets/flask.git", "flask"),
        ("git@example.com:shop", "git@example.com:shop", "shop"),
        ("file:///srv/git/店.git", "file:///srv/git/店.git", "_"),
        ("http://127.0.0.1:8080/shop", "http://127.0.0.1:8080/shop", "shop"),
        ("https://example.com/a/..", "https://example.com/a/..", "repository"),
    ],
)
def test_an_address_is_told_and_named(text: str, url: str, name: str) -> None:
    address = git_address(text)
    assert address is not None
    assert (address.url, address.name) == (url, name)


@pytest.mark.parametrize(
    "text", [".", "src", "/srv/git/shop.git", "../a:b", "./git@host:x", "C:\\code", "a:b", "a@b", "sample:orders", ""]
)
def test_a_path_is_no_address(text: str) -> None:
    assert git_address(text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ext::sh -c touch% /tmp/x", "spaces"),
        ("ext::sh", "start a program"),
        ("fd::7", "start a program"),
        ("git://example.com/shop", "is not fetched"),
        ("ftp://example.com/shop", "is not fetched"),
        ("git+ssh://example.com/shop", "is not fetched"),
        ("http://example.com/shop", "anybody on the way"),
        ("ssh://-oProxyCommand=touch/x", "no host"),
        ("ssh://git@-oProxyCommand=touch/x", "no host"),
        ("ssh://-l@example.com/x", "user name"),
        ("git@-oProxyCommand=touch:x", "no host"),
        ("-l@example.com:x", "user name"),
        ("git@example.com:--upload-pack=touch", "begins with a dash"),
        ("https://example.com:99999/x", "no host"),
        ("https:///x", "no host"),
        ("https://exämple.com/x", "no host"),
        ("https://example.com/", "names no repository"),
        ("https://example.com/x?access_token=abc", "has ? in its path"),
        ("https://example.com/x#frag", "has # in its path"),
        ("https://example.com/x;touch", "has ; in its path"),
        ("https://example.com/a b", "spaces"),
        ("https://example.com/a\x1b[31m", "control characters"),
        ("https://example.com/a\nb", "control characters"),
        ("https://example.com/a\u202eb", "control characters"),
        ("file://example.com/srv/x", "names a host"),
        ("https://example.com/" + "x" * 2100, "longer than"),
    ],
)
def test_what_could_do_more_than_name_a_repository_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        git_address(text)
    assert caught.value.code == REFUSED
    assert said in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "https://mei:hunter2@example.com/x",
        "https://hunter2@example.com/x",
        "https://mei:hunter2@exam ple/x",
        "ssh://mei:hunter2@example.com/x",
        "mei:hunter2@example.com:x",
        "https://example.com/x?token=hunter2",
        "https://example.com/x\x00hunter2",
        "gopher://mei:hunter2@example.com/x",
    ],
)
def test_what_may_be_a_credential_is_not_repeated(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        git_address(text)
    assert "hunter2" not in caught.value.message + caught.value.hint
