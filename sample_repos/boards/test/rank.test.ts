import assert from "node:assert/strict";
import { test } from "node:test";
import { isRank, rankBetween } from "../src/model/rank.js";

test("a rank between two neighbours sorts between them", () => {
  for (const [low, high] of [["1", "2"], ["1", "105"], ["01", "1"], ["az", "b"], ["zz", null], [null, "01"]] as const) {
    const rank = rankBetween(low, high);
    assert.ok(isRank(rank), rank);
    assert.ok(low === null || low < rank, `${low} < ${rank}`);
    assert.ok(high === null || rank < high, `${rank} < ${high}`);
  }
  assert.throws(() => rankBetween("b", "a"), /not below/);
});

test("a thousand inserts at the same spot never run out of room", () => {
  let low = rankBetween(null, null);
  const high = rankBetween(low, null);
  for (let i = 0; i < 1000; i++) {
    const next = rankBetween(low, high);
    assert.ok(low < next && next < high);
    low = next;
  }
  let last = high;
  for (let i = 0; i < 200; i++) last = rankBetween(last, null);
  assert.ok(last.length <= 7, `appending keeps ranks short: ${last}`);
});
