"""From settings to a model: what is wrong is said before anything is sent, and no key is repeated."""

from __future__ import annotations

import subprocess
import sys

import pytest
from secateur.errors import ConfigError, LlmError, SecateurError
from secateur.llm import open_model
from secateur.llm.client import ServerModel
from secateur.settings import Layer, Llm, merge
from secateur.settings import keys as setting_keys

GOOD = {"enabled": True, "base_url": "http://127.0.0.1:9/v1", "model": "m"}


def test_it_is_off_by_default() -> None:
    assert open_model(Llm(), {}) is None
    assert open_model(Llm(base_url="http://127.0.0.1:9", model="m"), {}) is None


def test_a_model_that_is_set_is_named() -> None:
    model = open_model(Llm(**GOOD), {})
    assert model is not None
    assert model.name == "m"


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
        ("http://localhost:8000/v1/", "http://localhost:8000/v1/chat/completions"),
        ("https://api.example.com/openai/v1", "https://api.example.com/openai/v1/chat/completions"),
        ("https://api.example.com/v1/chat/completions", "https://api.example.com/v1/chat/completions"),
        ("http://[::1]:80", "http://[::1]:80/v1/chat/completions"),
    ],
)
def test_addresses_are_taken_as_other_clients_take_them(given: str, url: str) -> None:
    model = open_model(Llm(**GOOD | {"base_url": given}), {})
    assert isinstance(model, ServerModel)
    assert model._client()._url == url


@pytest.mark.parametrize(
    "url",
    ["localhost:11434", "file:///etc/passwd", "ftp://x/", "http://", "http://[", "http://x:99999999/", "http://a b/"],
)
def test_addresses_that_are_none_are_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"llm\.base_url is not"):
        open_model(Llm(**GOOD | {"base_url": url}), {})


@pytest.mark.parametrize(
    "url",
    ["https://me:s3cret@host/v1", "https://s3cret@host/v1", "https://host/v1?key=s3cret", "https://host/v1#s3cret"],
)
def test_an_address_that_holds_a_secret_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_model(Llm(**GOOD | {"base_url": url}), {})
    assert "s3cret" not in caught.value.message + caught.value.hint
    assert "llm.api_key_env" in caught.value.hint


@pytest.mark.parametrize("key", ["base_url", "model"])
def test_what_is_missing_is_named(key: str) -> None:
    with pytest.raises(ConfigError, match=rf"llm\.{key} is empty") as caught:
        open_model(Llm(**GOOD | {key: ""}), {})
    assert caught.value.exit_code == 2
    assert caught.value.hint


def test_a_variable_that_is_not_set_is_named() -> None:
    for environ in ({}, {"MY_KEY": ""}, {"MY_KEY": " "}):
        with pytest.raises(LlmError, match="the environment variable MY_KEY is not set") as caught:
            open_model(Llm(**GOOD, api_key_env="MY_KEY"), environ)
        assert caught.value.exit_code == 1


@pytest.mark.parametrize("key", ["sk-5ecret", "5ecret", "sk_5ecret_abc"])
def test_a_key_in_the_place_of_a_name_is_not_repeated(key: str) -> None:
    with pytest.raises(LlmError) as caught:
        open_model(Llm(**GOOD, api_key_env=key), {})
    assert "5ecret" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("key", ["two\nlines", "schl\u00fcssel", "two words"])
def test_a_key_no_header_can_carry_is_an_error_that_does_not_show_it(key: str) -> None:
    with pytest.raises(LlmError) as caught:
        open_model(Llm(**GOOD, api_key_env="KEY"), {"KEY": key})
    assert key not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("name", sorted(filter(lambda name: name.startswith("llm."), setting_keys())))
def test_no_repository_sets_any_of_it(name: str) -> None:
    key = setting_keys()[name]
    assert key.scope == "user"
    value = True if key.kind is bool else key.default
    layer = Layer("secateur.toml", {"llm": {name.removeprefix("llm."): value}}, "repository")
    loaded = merge([layer])
    assert loaded.settings.llm == Llm()
    assert [notice.code for notice in loaded.notices] == ["config_ignored"]


def test_errors_of_opening_are_errors_of_ours() -> None:
    assert issubclass(LlmError, SecateurError)


@pytest.mark.parametrize("table", ["llm", "embedding"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("base_url", "https://me:s3cret@host/v1"),
        ("base_url", "https://host/v1?key=s3cret"),
        ("api_key_env", "sk-s3cret"),
        ("api_key_env", "s3cret " * 20),
    ],
)
def test_a_secret_in_a_setting_is_refused_before_it_could_be_shown(table: str, key: str, value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        merge([Layer("my secateur.toml", {table: {key: value}})])
    assert "s3cret" not in caught.value.message + caught.value.hint
    assert f"my secateur.toml: {table}.{key}" in caught.value.message


def test_without_a_model_no_client_is_loaded() -> None:
    program = (
        "import sys, secateur.kinds.conversation.strategies, secateur.llm as llm; from secateur.settings import Llm;"
        " print(llm.open_model(Llm(), {}), 'secateur.http' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "None False"
