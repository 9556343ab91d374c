import assert from "node:assert/strict";
import { test } from "node:test";
import { assertCan, can } from "../src/auth/permissions.js";
import { boardWithCards } from "../testing/fixtures.js";

test("角色决定可以做什么", async () => {
  const { service, boardId, a } = await boardWithCards();
  await service.setMember("ann", boardId, "vic", "viewer");
  const board = await service.getBoard("ann", boardId);
  assert.ok(can(board, "ann", "board.admin"));
  assert.ok(can(board, "ben", "card.write") && !can(board, "ben", "board.admin"));
  assert.ok(can(board, "vic", "board.read") && !can(board, "vic", "card.write"));
  // 没有写权限得到 403；连看都不能看的人只会得到 404。
  await assert.rejects(service.deleteCard("vic", boardId, a), { status: 403 });
  await assert.rejects(service.getBoard("eve", boardId), { status: 404 });
  assert.throws(() => assertCan(board, "toString", "board.read"), { status: 404 });
});

test("the last owner can neither leave nor step down", async () => {
  const { service, boardId } = await boardWithCards();
  await assert.rejects(service.setMember("ann", boardId, "ann", "editor"), { code: "last_owner" });
  await service.setMember("ann", boardId, "ben", "owner");
  const board = await service.setMember("ann", boardId, "ann", null);
  assert.deepEqual(board.members, { ben: "owner" });
});
