import assert from "node:assert/strict";
import { test } from "node:test";
import type { Change } from "../src/model/index.js";
import { rebase } from "../src/oplog/index.js";
import { boardWithCards, layout, logged } from "../testing/fixtures.js";

async function fixture() {
  const context = await boardWithCards();
  const board = await context.service.getBoard("ann", context.boardId);
  const rankOf = (id: string) => board.cards[id]?.rank as string;
  return { ...context, board, rankOf };
}

test("moves of different cards are both kept", async () => {
  const { service, boardId, board, a, b, done } = await fixture();
  const base = board.version;
  const change = (cardId: string, rank: string): Change => ({ kind: "card.move", cardId, columnId: done, rank });
  await service.submit("ann", boardId, { baseVersion: base, change: change(a, "i") });
  const second = await service.submit("ben", boardId, { baseVersion: base, change: change(b, "r") });
  assert.deepEqual(layout(second.board), { Todo: "c", Done: "a b" });
});

test("two cards dropped at the same rank end up in an order that depends on ids only", async () => {
  const { board, a, b, done } = await fixture();
  for (const [first, second] of [[a, b], [b, a]] as const) {
    const occupied = { ...board, cards: { ...board.cards, [first]: { ...board.cards[first]!, columnId: done, rank: "i" } } };
    const mine: Change = { kind: "card.move", cardId: second, columnId: done, rank: "i" };
    const outcome = rebase(mine, [], occupied);
    assert.ok(outcome.status === "apply" && outcome.change.kind === "card.move" && outcome.rebased);
    assert.equal(outcome.change.rank > "i", second > first);
  }
});

test("the same card moved twice: the later arrival wins", async () => {
  const { service, boardId, board, a, done, todo, rankOf, c } = await fixture();
  const base = board.version;
  await service.submit("ann", boardId, {
    baseVersion: base,
    change: { kind: "card.move", cardId: a, columnId: todo, rank: `${rankOf(c)}5` },
  });
  const later = await service.submit("ben", boardId, {
    baseVersion: base,
    change: { kind: "card.move", cardId: a, columnId: done, rank: "i" },
  });
  assert.equal(later.status, "rebased");
  assert.deepEqual(layout(later.board), { Todo: "b c", Done: "a" });
});

test("a reorder loses against a concurrent move to another column", async () => {
  const { board, a, todo, done } = await fixture();
  const theirs = logged({ kind: "card.move", cardId: a, columnId: done, rank: "i", fromColumnId: todo });
  const reorder: Change = { kind: "card.move", cardId: a, columnId: todo, rank: "z", fromColumnId: todo };
  assert.deepEqual(rebase(reorder, [theirs], board), { status: "drop", reason: "moved_elsewhere" });
});

test("moving a card that was deleted meanwhile does not bring it back", async () => {
  const { service, boardId, board, b, done } = await fixture();
  await service.deleteCard("ann", boardId, b);
  const result = await service.submit("ben", boardId, {
    baseVersion: board.version,
    change: { kind: "card.move", cardId: b, columnId: done, rank: "i" },
  });
  assert.equal(result.status, "dropped");
  assert.equal(result.reason, "card_deleted");
  assert.equal(result.board.cards[b], undefined);
});

test("edits of different fields are merged, labels commute", async () => {
  const { service, boardId, board, a } = await fixture();
  const edit = (fields: object, addLabels: string[]): Change => ({ kind: "card.edit", cardId: a, fields, addLabels });
  await service.submit("ann", boardId, { baseVersion: board.version, change: edit({ title: "A" }, ["bug"]) });
  const merged = await service.submit("ben", boardId, {
    baseVersion: board.version,
    change: edit({ assignee: "ben" }, ["urgent"]),
  });
  const card = merged.board.cards[a];
  assert.deepEqual([card?.title, card?.assignee, card?.labels], ["A", "ben", ["bug", "urgent"]]);
});

test("two different descriptions need a human", async () => {
  const { board, a } = await fixture();
  const edit = (description: string): Change => ({ kind: "card.edit", cardId: a, fields: { description } });
  assert.throws(() => rebase(edit("mine"), [logged(edit("theirs"))], board), { code: "edit_conflict" });
  assert.deepEqual(rebase(edit("same"), [logged(edit("same"))], board), { status: "drop", reason: "nothing_left" });
});

test("a move based on ranks from before a rebalance keeps its neighbours", async () => {
  const { board, a, b, c, todo, rankOf } = await fixture();
  const theirs = logged({
    kind: "column.rebalance",
    columnId: todo,
    ranks: { [a]: { from: rankOf(a), to: "2" }, [b]: { from: rankOf(b), to: "3" }, [c]: { from: rankOf(c), to: "4" } },
  });
  const mine: Change = { kind: "card.move", cardId: c, columnId: todo, rank: `${rankOf(a)}1` };
  const outcome = rebase(mine, [theirs], board);
  assert.ok(outcome.status === "apply" && outcome.change.kind === "card.move");
  assert.ok("2" < outcome.change.rank && outcome.change.rank < "3", outcome.change.rank);
});

test("a column cannot be deleted under a card that was just moved into it", async () => {
  const { board, a, done } = await fixture();
  const move: Change = { kind: "card.move", cardId: a, columnId: done, rank: "i" };
  const remove: Change = { kind: "column.delete", columnId: done };
  assert.throws(() => rebase(remove, [logged(move)], board), { code: "column_not_empty" });
  assert.throws(() => rebase(move, [logged(remove)], board), { code: "column_deleted" });
});
