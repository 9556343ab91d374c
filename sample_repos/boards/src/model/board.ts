/**
 * The board reducer and the read helpers on top of it. Functions here are pure:
 * they never mutate their input, which lets the log replay them freely.
 */
import { NotFoundError } from "../errors.js";
import type { CardEdit, Change, ChangeMeta } from "./changes.js";
import { compareRanked, rankBetween } from "./rank.js";
import type { Ranked } from "./rank.js";
import type { Board, Card, Column } from "./types.js";

export function requireCard(board: Board, cardId: string): Card {
  const card = board.cards[cardId];
  if (!card) throw new NotFoundError("card", cardId);
  return card;
}

export function requireColumn(board: Board, columnId: string): Column {
  const column = board.columns[columnId];
  if (!column) throw new NotFoundError("column", columnId);
  return column;
}

export function sortedColumns(board: Board): Column[] {
  return Object.values(board.columns).sort(compareRanked);
}

/** Cards of a column in display order; archived ones are left out. */
export function cardsInColumn(board: Board, columnId: string): Card[] {
  return allCardsInColumn(board, columnId).filter((card) => !card.archived);
}

/** Like cardsInColumn, but archived cards keep their place in the order. */
export function allCardsInColumn(board: Board, columnId: string): Card[] {
  return Object.values(board.cards)
    .filter((card) => card.columnId === columnId)
    .sort(compareRanked);
}

/** Rank for an item placed right after `afterId`, or first when that is null. */
export function rankAfter(siblings: readonly Ranked[], afterId: string | null, movingId?: string): string {
  const others = siblings.filter((item) => item.id !== movingId);
  if (afterId === null) return rankBetween(null, others[0]?.rank ?? null);
  const index = others.findIndex((item) => item.id === afterId);
  if (index < 0) throw new NotFoundError("anchor", afterId);
  return rankBetween(others[index]?.rank ?? null, others[index + 1]?.rank ?? null);
}

export function lastRank(siblings: readonly Ranked[]): string {
  return rankBetween(siblings.at(-1)?.rank ?? null, null);
}

/** Applies one change and returns the next version of the board. */
export function applyChange(board: Board, change: Change, meta: ChangeMeta): Board {
  const next: Board = { ...board, version: board.version + 1, updatedAt: meta.at };
  switch (change.kind) {
    case "card.create":
      return withCard(next, {
        id: change.cardId,
        columnId: change.columnId,
        rank: change.rank,
        title: change.title,
        description: change.description,
        labels: [],
        assignee: null,
        due: null,
        archived: false,
        createdAt: meta.at,
        updatedAt: meta.at,
      });
    case "card.move": {
      const card = requireCard(board, change.cardId);
      return withCard(next, { ...card, columnId: change.columnId, rank: change.rank, updatedAt: meta.at });
    }
    case "card.edit": {
      const card = requireCard(board, change.cardId);
      const labels = editedLabels(card, change);
      return withCard(next, { ...card, ...change.fields, labels, updatedAt: meta.at });
    }
    case "card.archive": {
      const card = requireCard(board, change.cardId);
      return withCard(next, { ...card, archived: change.archived, updatedAt: meta.at });
    }
    case "card.delete": {
      const { [change.cardId]: _removed, ...cards } = board.cards;
      return { ...next, cards };
    }
    case "card.restore":
      return withCard(next, { ...change.card, updatedAt: meta.at });
    case "column.create":
      return withColumn(next, {
        id: change.columnId,
        name: change.name,
        rank: change.rank,
        wipLimit: change.wipLimit,
      });
    case "column.delete": {
      const { [change.columnId]: _removed, ...columns } = board.columns;
      return { ...next, columns };
    }
    case "column.rebalance": {
      const cards = { ...board.cards };
      for (const [cardId, { to }] of Object.entries(change.ranks)) {
        cards[cardId] = { ...requireCard(board, cardId), rank: to };
      }
      return { ...next, cards };
    }
    case "member.set": {
      const { [change.userId]: _previous, ...members } = board.members;
      return { ...next, members: change.role === null ? members : { ...members, [change.userId]: change.role } };
    }
  }
}

function editedLabels(card: Card, edit: CardEdit): string[] {
  const labels = new Set(card.labels);
  for (const label of edit.removeLabels ?? []) labels.delete(label);
  for (const label of edit.addLabels ?? []) labels.add(label);
  return [...labels].sort();
}

function withCard(board: Board, card: Card): Board {
  return { ...board, cards: { ...board.cards, [card.id]: card } };
}

function withColumn(board: Board, column: Column): Board {
  return { ...board, columns: { ...board.columns, [column.id]: column } };
}
