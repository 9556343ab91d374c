import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStore } from "../src/storage/index.js";
import { DEFAULT_RETRY_POLICY, decideRetry, WebhookDispatcher } from "../src/webhooks/index.js";
import type { BoardEvent, Webhook } from "../src/webhooks/index.js";
import { ManualClock, ScriptedTransport } from "../testing/fixtures.js";

const HOOK: Webhook = {
  id: "hook_1",
  url: "https://hooks.example.com/in",
  kinds: ["card.move"],
  active: true,
};
const EVENT: BoardEvent = {
  id: "op_1",
  boardId: "b_1",
  version: 4,
  kind: "card.move",
  author: "ann",
  at: "2026-03-10T08:00:00.000Z",
  payload: {},
};

async function dispatcher(...replies: ConstructorParameters<typeof ScriptedTransport>[0]) {
  const store = new MemoryStore();
  await store.saveHooks("b_1", [HOOK]);
  const clock = new ManualClock();
  const transport = new ScriptedTransport(replies);
  return { store, clock, transport, hooks: new WebhookDispatcher(store, transport, clock) };
}

test("a delivery is repeated with growing delays until it succeeds", async () => {
  const { hooks, transport, clock } = await dispatcher({ status: 503 }, new Error("timeout"), { status: 200 });
  const report = await hooks.deliver(HOOK, EVENT);
  assert.deepEqual(report, { hookId: "hook_1", attempts: 3, outcome: "delivered" });
  assert.equal(transport.sent.length, 3);
  const [first = 0, second = 0] = clock.slept;
  assert.ok(first >= 1400 && first <= 2000 && second >= 2800 && second <= 4000, `${first} ${second}`);
});

test("retries stop when they are pointless or used up", () => {
  const decide = (attempt: number, status: number | null, ageMs = 0, retryAfter = 0) =>
    decideRetry(DEFAULT_RETRY_POLICY, attempt, { status, retryAfter }, ageMs);
  assert.deepEqual(decide(1, 404), { retry: false, reason: "rejected" });
  assert.deepEqual(decide(1, 410), { retry: false, reason: "gone" });
  assert.deepEqual(decide(8, 500), { retry: false, reason: "attempts_exhausted" });
  assert.equal(decide(1, 429).retry, true);
  assert.deepEqual(decide(2, 503, DEFAULT_RETRY_POLICY.maxAgeMs), { retry: false, reason: "too_old" });
  assert.deepEqual(decide(1, 503, 0, 120), { retry: true, delayMs: 120_000 });
});

test("a receiver that is gone is switched off", async () => {
  const { hooks, store } = await dispatcher({ status: 410 });
  await hooks.deliver(HOOK, EVENT);
  assert.deepEqual((await store.loadHooks("b_1")).map((hook) => hook.active), [false]);
});

test("only hooks that want this kind of event get it", async () => {
  const { hooks, transport } = await dispatcher({ status: 204 });
  hooks.publish({ ...EVENT, kind: "card.edit" });
  hooks.publish(EVENT);
  await new Promise((resolve) => setImmediate(resolve));
  await hooks.idle();
  assert.equal(transport.sent.length, 1);
});
