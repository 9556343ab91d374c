import assert from "node:assert/strict";
import { test } from "node:test";
import { createApp } from "../src/app.js";
import { digestToken } from "../src/auth/tokens.js";
import { DEFAULTS } from "../src/config.js";
import { RateLimiter } from "../src/http/rate-limit.js";
import { handleRequest } from "../src/http/server.js";
import { ManualClock } from "../testing/fixtures.js";

function client() {
  const users = { ann: digestToken("ann-token").toString("hex"), ben: digestToken("ben-token").toString("hex") };
  const app = createApp({ ...DEFAULTS, users }, { clock: new ManualClock() });
  const call = async (token: string | null, method: string, url: string, body?: unknown, extra = {}) => {
    const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...extra };
    const reply = await handleRequest(app, { method, url, headers, body: body === undefined ? "" : JSON.stringify(body) });
    return { ...reply, body: reply.body as any };
  };
  return { app, call };
}

test("a board can be built and changed over HTTP", async () => {
  const { call } = client();
  const board = (await call("ann-token", "POST", "/boards", { name: "Launch" })).body;
  const todo = (await call("ann-token", "POST", `/boards/${board.id}/columns`, { name: "Todo" })).body;
  const done = (await call("ann-token", "POST", `/boards/${board.id}/columns`, { name: "Done" })).body;
  const card = (await call("ann-token", "POST", `/boards/${board.id}/columns/${todo.id}/cards`, { title: "ship" })).body;
  const moved = await call("ann-token", "POST", `/boards/${board.id}/cards/${card.id}/move`, { columnId: done.id });
  assert.equal(moved.status, 200);
  assert.deepEqual(moved.body.columns.map((column: { cards: unknown[] }) => column.cards.length), [0, 1]);
  assert.equal((await call("ann-token", "GET", "/nowhere")).status, 404);
  assert.equal((await call("ann-token", "DELETE", "/boards")).status, 405);
});

test("requests need a valid token", async () => {
  const { call } = client();
  assert.equal((await call("wrong", "GET", "/boards")).status, 401);
  const board = (await call("ann-token", "POST", "/boards", { name: "Secret" })).body;
  assert.equal((await call("ben-token", "GET", `/boards/${board.id}`)).status, 404);
  assert.equal((await call(null, "GET", `/boards/${board.id}`)).status, 401);
});

test("malformed operations are refused before they reach a board", async () => {
  const { call } = client();
  const board = (await call("ann-token", "POST", "/boards", { name: "Launch" })).body;
  const send = (change: unknown) => call("ann-token", "POST", `/boards/${board.id}/ops`, { baseVersion: 0, change });
  assert.equal((await send({ kind: "card.move", cardId: "x", columnId: "y", rank: "A" })).status, 422);
  assert.equal((await send({ kind: "member.set", userId: "eve", role: "owner" })).status, 422);
  assert.equal((await send(null)).status, 422);
});

test("the rate limiter refills up to its burst and no further", () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ burst: 2, perSecond: 1 }, clock);
  limiter.check("ann");
  limiter.check("ann");
  assert.throws(() => limiter.check("ann"), { status: 429, retryAfterMs: 1000 });
  limiter.check("ben");
  clock.advance(60_000);
  limiter.check("ann");
  limiter.check("ann");
  assert.throws(() => limiter.check("ann"), { status: 429 });
});
