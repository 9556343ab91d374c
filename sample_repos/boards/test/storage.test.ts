import assert from "node:assert/strict";
import { appendFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FileStore } from "../src/storage/index.js";
import { boardWithCards, layout } from "../testing/fixtures.js";

async function withDirectory(run: (root: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), "boards-"));
  try {
    await run(root);
  } finally {
    await rm(root, { recursive: true });
  }
}

test("a board survives a restart", () =>
  withDirectory(async (root) => {
    const { boardId, service, c, done } = await boardWithCards(new FileStore(root));
    await service.moveCard("ann", boardId, c, { columnId: done, afterId: null });
    const reopened = await new FileStore(root).requireBoard(boardId);
    assert.deepEqual(layout(reopened), { Todo: "a b", Done: "c" });
    const files = await readdir(join(root, boardId));
    assert.ok(files.every((name) => !name.endsWith(".tmp")), files.join());
  }));

test("ids cannot leave the storage directory", () =>
  withDirectory(async (root) => {
    await assert.rejects(new FileStore(root).loadBoard("../secret"), { code: "invalid" });
    await assert.rejects(new FileStore(root).requireBoard("missing"), { code: "not_found" });
  }));

test("an operation that was logged but not saved is replayed", () =>
  withDirectory(async (root) => {
    const store = new FileStore(root);
    const { boardId, service, a } = await boardWithCards(store);
    const before = await store.requireBoard(boardId);
    await service.deleteCard("ann", boardId, a);
    await store.saveBoard(before);
    const board = await service.getBoard("ann", boardId);
    assert.equal(board.version, before.version + 1);
    assert.equal(board.cards[a], undefined);
  }));

test("half a line left in the log by a crash is skipped", () =>
  withDirectory(async (root) => {
    const { boardId, service, b } = await boardWithCards(new FileStore(root));
    const { version } = await service.deleteCard("ann", boardId, b);
    await appendFile(join(root, boardId, "ops.jsonl"), '\n{"id":"op_torn","ver');
    const store = new FileStore(root);
    const [op] = await store.readOperations(boardId, version - 1);
    assert.ok(op);
    await store.appendOperation({ ...op, id: "op_next", version: version + 1 });
    const ids = (await store.readOperations(boardId, version - 1)).map(({ id }) => id);
    assert.deepEqual(ids, [op.id, "op_next"]);
  }));
