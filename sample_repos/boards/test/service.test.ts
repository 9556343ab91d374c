import assert from "node:assert/strict";
import { test } from "node:test";
import { boardWithCards, layout } from "../testing/fixtures.js";

test("cards are placed after their anchor", async () => {
  const { service, boardId, a, c, todo, done } = await boardWithCards();
  const board = await service.moveCard("ann", boardId, c, { columnId: todo, afterId: a });
  assert.deepEqual(layout(board), { Todo: "a c b", Done: "" });
  const next = await service.moveCard("ann", boardId, a, { columnId: done, afterId: null });
  assert.deepEqual(layout(next), { Todo: "c b", Done: "a" });
});

test("input is cleaned and checked", async () => {
  const { service, boardId, todo, a } = await boardWithCards();
  const card = await service.addCard("ann", boardId, todo, { title: "  two \n words ", description: "x\r\ny  " });
  assert.deepEqual([card.title, card.description], ["two words", "x\ny"]);
  await assert.rejects(service.addCard("ann", boardId, todo, { title: " " }), { code: "invalid" });
  await assert.rejects(service.editCard("ann", boardId, a, { due: "2026-02-30" }), { code: "invalid" });
  await assert.rejects(service.editCard("ann", boardId, a, { addLabels: ["a b"] }), { code: "invalid" });
});

test("concurrent requests are applied one after the other", async () => {
  const { service, boardId, todo } = await boardWithCards();
  const { version } = await service.getBoard("ann", boardId);
  await Promise.all([1, 2, 3, 4, 5].map((n) => service.addCard("ben", boardId, todo, { title: `n${n}` })));
  const board = await service.getBoard("ann", boardId);
  assert.equal(board.version, version + 5);
  assert.equal(layout(board)["Todo"], "a b c n1 n2 n3 n4 n5");
});

test("undo takes back a move and can reach further back", async () => {
  const { service, boardId, a, done } = await boardWithCards();
  await service.moveCard("ann", boardId, a, { columnId: done, afterId: null });
  await service.editCard("ann", boardId, a, { title: "changed" });
  await service.undo("ann", boardId);
  const { board } = await service.undo("ann", boardId);
  assert.deepEqual(layout(board), { Todo: "a b c", Done: "" });
});

test("undo leaves the changes of other people alone", async () => {
  const { service, boardId, a, b } = await boardWithCards();
  await service.editCard("ben", boardId, a, { title: "by ben" });
  await service.editCard("ann", boardId, b, { title: "by ann" });
  const { board } = await service.undo("ben", boardId);
  assert.equal(layout(board)["Todo"], "a by ann c");
  await assert.rejects(service.undo("ben", boardId), { code: "nothing_to_undo" });
  // Once somebody else has built on a change, it can no longer be taken back.
  await service.editCard("ben", boardId, a, { title: "by ben" });
  await service.editCard("ann", boardId, a, { title: "by ann" });
  await assert.rejects(service.undo("ben", boardId), { code: "undo_superseded" });
});

test("archived cards free their place and are hidden from search", async () => {
  const { service, boardId, a, b } = await boardWithCards();
  const { id: done } = await service.addColumn("ann", boardId, { name: "Review", wipLimit: 1 });
  await service.moveCard("ann", boardId, a, { columnId: done, afterId: null });
  await assert.rejects(service.moveCard("ann", boardId, b, { columnId: done, afterId: a }), { code: "wip_limit" });
  await service.archiveCard("ann", boardId, a, true);
  await service.moveCard("ann", boardId, b, { columnId: done, afterId: null });
  const titles = async (query: string) => (await service.search("ann", boardId, query)).map((card) => card.title);
  assert.deepEqual(await titles("column:review"), ["b"]);
  assert.deepEqual(await titles("is:archived"), ["a"]);
  await assert.rejects(service.archiveCard("ann", boardId, a, false), { code: "wip_limit" });
});

test("a column with very long ranks is rebalanced without changing the order", async () => {
  const { service, boardId, a, b, c, todo } = await boardWithCards();
  for (let i = 0; i < 120; i++) {
    await service.moveCard("ann", boardId, i % 2 ? b : c, { columnId: todo, afterId: a });
  }
  const board = await service.getBoard("ann", boardId);
  assert.equal(layout(board)["Todo"], "a b c");
  assert.ok(Object.values(board.cards).every((card) => card.rank.length <= 16));
});

test("an operation sent twice is applied once", async () => {
  const { service, boardId, a } = await boardWithCards();
  const { version } = await service.getBoard("ann", boardId);
  const submission = {
    opId: "phone-17",
    baseVersion: version,
    change: { kind: "card.edit", cardId: a, fields: { title: "once" } } as const,
  };
  const first = await service.submit("ann", boardId, submission);
  const again = await service.submit("ann", boardId, submission);
  assert.deepEqual([first.status, again.status], ["applied", "duplicate"]);
  assert.equal(again.board.version, version + 1);
});
