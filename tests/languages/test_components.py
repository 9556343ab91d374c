"""Components: scripts by units with calls, markup by elements."""

from __future__ import annotations

import pytest
from secateur.languages.syntax.fragments import parse_file, split_lines

VUE = """<script setup lang="ts" generic="T extends Line<Money>">
import { formatMoney } from '../lib/money'

const total = ref(0)

function applyCoupon(code: string) {
  return formatMoney(code)
}
const clear = () => {
  total.value = 0
}
</script>

<template>
  <section class="cart">
    <template v-if="total"><p>{{ formatMoney(total) }}</p></template>
    <button @click="applyCoupon('WELCOME')" :title="label(1)">Apply</button>
    <button v-on:click="clear">Clear</button>
  </section>
</template>

<style scoped>
.cart { display: grid; }
</style>
"""

SVELTE = """<script>
  function apply(code) {
    return code;
  }
</script>

<p>{format(total)}</p>
<button on:click={apply}>x</button>
"""

ASTRO = """---
const posts = await load();
function title(post) { return post.title }
---
<Layout>{posts.map((p) => title(p))}</Layout>
"""


@pytest.mark.parametrize(
    ("path", "source", "units", "markup", "calls"),
    [
        (
            "Cart.vue",
            VUE,
            {"applyCoupon": "function", "clear": "function", "<template>": "section"},
            14,
            {"formatMoney", "applyCoupon", "label", "clear"},
        ),
        ("Cart.svelte", SVELTE, {"apply": "function"}, 7, {"format", "apply"}),
        ("index.astro", ASTRO, {"title": "function"}, 5, {"map", "title"}),
    ],
)
def test_units_of_components(path: str, source: str, units: dict[str, str], markup: int, calls: set[str]) -> None:
    for text in (source, source.replace("\n", "\r\n")):
        facts = parse_file(path, text.encode())
        assert {part.name: part.kind.value for part in facts.fragments if part.name} == units
        assert {call.name for call in facts.calls if call.line >= markup} == calls
        assert facts.problems == ()


@pytest.mark.parametrize("path", ["a.vue", "a.svelte", "a.astro"])
@pytest.mark.parametrize(
    "source",
    [
        "",
        "<script>\n" * 2_000,
        "</script>\n<style>" * 2_000,
        "---\n---\n" * 1_000,
        "{{" * 200_000,
        "<script a='" * 20_000,
        '<p :a="' * 50_000,
        "<script>\nfunction f() {{{\n</script>\n<p>{f(}</p>",
    ],
)
def test_unusual_components_are_read_whole(path: str, source: str) -> None:
    fragments = parse_file(path, source.encode()).fragments
    covered = {row for part in fragments for row in range(part.line_start, part.line_end + 1)}
    assert covered >= {row for row, line in enumerate(split_lines(source), 1) if line.strip()}
