/** Changes are data: they are validated, logged, merged, inverted and replayed. */
import type { Card, Role } from "./types.js";

export interface CardCreate {
  kind: "card.create";
  cardId: string;
  columnId: string;
  rank: string;
  title: string;
  description: string;
}

export interface CardMove {
  kind: "card.move";
  cardId: string;
  columnId: string;
  rank: string;
  /** Where the author saw the card; tells a reorder from a real move. */
  fromColumnId?: string;
}

export interface CardFields {
  title?: string;
  description?: string;
  assignee?: string | null;
  due?: string | null;
}

export interface CardEdit {
  kind: "card.edit";
  cardId: string;
  fields: CardFields;
  /** Labels travel as a delta so that two people can tag a card at once. */
  addLabels?: string[];
  removeLabels?: string[];
}

export type CardArchive = { kind: "card.archive"; cardId: string; archived: boolean };

export type CardDelete = { kind: "card.delete"; cardId: string };

/** Only produced by undo: brings a deleted card back as it was. */
export type CardRestore = { kind: "card.restore"; card: Card };

export interface ColumnCreate {
  kind: "column.create";
  columnId: string;
  name: string;
  rank: string;
  wipLimit: number | null;
}

export type ColumnDelete = { kind: "column.delete"; columnId: string };

/** Written by the server when the ranks of a column have grown too long. */
export interface ColumnRebalance {
  kind: "column.rebalance";
  columnId: string;
  ranks: Record<string, { from: string; to: string }>;
}

/** A null role removes the member. */
export type MemberSet = { kind: "member.set"; userId: string; role: Role | null };

export type Change =
  | CardCreate
  | CardMove
  | CardEdit
  | CardArchive
  | CardDelete
  | CardRestore
  | ColumnCreate
  | ColumnDelete
  | ColumnRebalance
  | MemberSet;

export type ChangeKind = Change["kind"];

/** Who made a change and when. */
export interface ChangeMeta {
  author: string;
  at: string;
}

/** One entry of the operation log; applying it yields board version `version`. */
export interface Operation extends ChangeMeta {
  id: string;
  boardId: string;
  version: number;
  baseVersion: number;
  change: Change;
  inverse: Change | null;
  /** Id of the operation this one takes back, when it is an undo. */
  undoes?: string;
}
