"""Types that are printed as JSON: what they leave out, and which values they hold."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest
from msgspec import UNSET, UnsetType
from secateur.shape import Count, Shape, dumps, plain_values


class Pair(Shape, frozen=True):
    """A name and a count."""

    name: str
    count: Count | UnsetType = UNSET


def test_a_field_without_a_value_is_left_out() -> None:
    assert Pair("a").to_dict() == {"name": "a"}
    assert dumps([Pair("a", 0)]) == '[\n  {\n    "name": "a",\n    "count": 0\n  }\n]\n'


def test_the_schema_knows_no_other_field() -> None:
    schema = msgspec.json.schema(Pair)["$defs"]["Pair"]
    assert (schema["required"], schema["additionalProperties"]) == (["name"], False)


def test_values_of_numpy_and_any_text_are_written() -> None:
    assert json.dumps(plain_values({"a": np.float64(0.1), "b": np.str_("x")})) == '{"a": 0.1, "b": "x"}'
    assert json.loads(dumps(Pair("\ud800\x1b"))) == {"name": "\ud800\x1b"}


def test_a_value_that_json_has_not_is_refused() -> None:
    with pytest.raises(TypeError):
        plain_values(object())
