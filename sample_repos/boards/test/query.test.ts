import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuery } from "../src/query/index.js";
import { boardWithCards } from "../testing/fixtures.js";

async function finder() {
  const { service, boardId, a, b, c } = await boardWithCards();
  await service.editCard("ann", boardId, a, { title: "Fix login", addLabels: ["bug"], due: "2026-03-01" });
  await service.editCard("ann", boardId, b, { title: "Login page", assignee: "ben", addLabels: ["bug", "ui"] });
  await service.editCard("ann", boardId, c, { title: "Write docs", description: "for the API", due: "2026-04-01" });
  return async (query: string) => (await service.search("ben", boardId, query)).map((card) => card.title);
}

test("words and fields must all match", async () => {
  const find = await finder();
  assert.deepEqual(await find("login"), ["Fix login", "Login page"]);
  assert.deepEqual(await find("login label:ui"), ["Login page"]);
  assert.deepEqual(await find("assignee:me"), ["Login page"]);
  assert.deepEqual(await find('column:todo "the api"'), ["Write docs"]);
  assert.equal((await find("")).length, 3);
});

test("negation, OR and parentheses", async () => {
  const find = await finder();
  assert.deepEqual(await find("label:bug -label:ui"), ["Fix login"]);
  assert.deepEqual(await find("label:ui OR docs"), ["Login page", "Write docs"]);
  assert.deepEqual(await find("-(login OR label:ui)"), ["Write docs"]);
});

test("due dates can be compared", async () => {
  const find = await finder();
  assert.deepEqual(await find("due<2026-03-15"), ["Fix login"]);
  assert.deepEqual(await find("due>=2026-04-01"), ["Write docs"]);
  assert.deepEqual(await find("is:overdue"), ["Fix login"]);
  assert.deepEqual(await find("due:none"), ["Login page"]);
});

test("malformed queries are refused", () => {
  assert.throws(() => parseQuery('title:"open'), /unterminated quote at position 7/);
  assert.throws(() => parseQuery("size:3"), /unknown field size at position 1/);
  assert.throws(() => parseQuery("(a b"), /expected close, found the end at position 5/);
  assert.throws(() => parseQuery("label<bug"), /can only be compared/);
  assert.throws(() => parseQuery("(".repeat(40)), /nested too deeply/);
});
