/**
 * Rules a change must satisfy on the board it is about to be applied to. They
 * run after merging, so they see the state everybody else has already agreed on.
 */
import { ConflictError, ValidationError } from "../errors.js";
import { allCardsInColumn, cardsInColumn, requireCard, requireColumn } from "./board.js";
import type { Change } from "./changes.js";
import type { Board } from "./types.js";

const MAX_COLUMNS = 50;

export function checkChange(board: Board, change: Change): void {
  switch (change.kind) {
    case "card.create":
      if (board.cards[change.cardId]) throw new ValidationError("card id is already taken", "cardId");
      checkWipLimit(board, change.columnId);
      break;
    case "card.move": {
      const card = requireCard(board, change.cardId);
      if (card.columnId !== change.columnId) checkWipLimit(board, change.columnId);
      else requireColumn(board, change.columnId);
      break;
    }
    case "card.edit":
    case "card.delete":
      requireCard(board, change.cardId);
      break;
    case "card.archive": {
      const card = requireCard(board, change.cardId);
      if (card.archived && !change.archived) checkWipLimit(board, card.columnId);
      break;
    }
    case "card.restore":
      requireColumn(board, change.card.columnId);
      break;
    case "column.create":
      if (Object.keys(board.columns).length >= MAX_COLUMNS) {
        throw new ValidationError(`a board has at most ${MAX_COLUMNS} columns`);
      }
      break;
    case "column.rebalance":
      requireColumn(board, change.columnId);
      break;
    case "column.delete":
      requireColumn(board, change.columnId);
      if (allCardsInColumn(board, change.columnId).length > 0) {
        throw new ConflictError("column_not_empty", "move or delete the cards of this column first");
      }
      break;
    case "member.set":
      checkOwnerRemains(board, change.userId, change.role === "owner");
      break;
  }
}

function checkWipLimit(board: Board, columnId: string): void {
  const column = requireColumn(board, columnId);
  if (column.wipLimit !== null && cardsInColumn(board, columnId).length >= column.wipLimit) {
    throw new ConflictError("wip_limit", `${column.name} already holds ${column.wipLimit} cards`, { columnId });
  }
}

/** 看板至少要保留一个所有者，否则以后没有人能再管理成员。 */
function checkOwnerRemains(board: Board, userId: string, staysOwner: boolean): void {
  const others = Object.entries(board.members).some(([id, role]) => id !== userId && role === "owner");
  if (!staysOwner && !others) throw new ConflictError("last_owner", "a board needs at least one owner");
}
