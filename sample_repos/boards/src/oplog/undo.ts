/**
 * 撤销。
 *
 * 每个操作写入日志时就记下它的逆操作（基于应用之前的看板状态）。撤销并不回滚日志，
 * 而是把逆操作当作一个新操作提交，因此同样要经过权限检查和冲突合并。
 */
import { requireCard, requireColumn } from "../model/board.js";
import type { CardEdit, CardFields, Change, Operation } from "../model/changes.js";
import type { Board } from "../model/types.js";

/** The change that takes `change` back, or null when it cannot be undone. */
export function invert(board: Board, change: Change): Change | null {
  switch (change.kind) {
    case "card.create":
      return { kind: "card.delete", cardId: change.cardId };
    case "card.move": {
      const { columnId, rank } = requireCard(board, change.cardId);
      return { kind: "card.move", cardId: change.cardId, columnId, rank, fromColumnId: change.columnId };
    }
    case "card.edit":
      return invertEdit(board, change);
    case "card.archive":
      return { ...change, archived: !change.archived };
    case "card.delete":
      return { kind: "card.restore", card: requireCard(board, change.cardId) };
    case "card.restore":
      return { kind: "card.delete", cardId: change.card.id };
    case "column.create":
      return { kind: "column.delete", columnId: change.columnId };
    case "column.delete": {
      const { name, rank, wipLimit } = requireColumn(board, change.columnId);
      return { kind: "column.create", columnId: change.columnId, name, rank, wipLimit };
    }
    case "column.rebalance":
    case "member.set":
      return null;
  }
}

function invertEdit(board: Board, edit: CardEdit): CardEdit {
  const card = requireCard(board, edit.cardId);
  const fields: CardFields = {};
  if (edit.fields.title !== undefined) fields.title = card.title;
  if (edit.fields.description !== undefined) fields.description = card.description;
  if (edit.fields.assignee !== undefined) fields.assignee = card.assignee;
  if (edit.fields.due !== undefined) fields.due = card.due;
  return {
    kind: "card.edit",
    cardId: edit.cardId,
    fields,
    // 只撤销真正改变过的标签：本来就有的不能删，本来就没有的不能加。
    addLabels: (edit.removeLabels ?? []).filter((label) => card.labels.includes(label)),
    removeLabels: (edit.addLabels ?? []).filter((label) => !card.labels.includes(label)),
  };
}

/** The newest operation of `author` that is not an undo and not yet undone. */
export function findUndoable(ops: readonly Operation[], author: string): Operation | null {
  const undone = new Set(ops.flatMap((op) => op.undoes ?? []));
  for (const op of [...ops].reverse()) {
    if (op.author === author && op.inverse && !op.undoes && !undone.has(op.id)) return op;
  }
  return null;
}

/** The first later operation by somebody else on the same card or column. */
export function supersededBy(op: Operation, later: readonly Operation[]): Operation | null {
  const target = targetOf(op.change);
  return later.find((other) => other.author !== op.author && targetOf(other.change) === target) ?? null;
}

function targetOf(change: Change): string {
  if ("cardId" in change) return change.cardId;
  if ("card" in change) return change.card.id;
  return "columnId" in change ? change.columnId : change.userId;
}
