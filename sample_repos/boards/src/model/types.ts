/** Plain data shapes. Everything here must survive a JSON round trip. */

export type Role = "owner" | "editor" | "viewer";

export interface Card {
  id: string;
  columnId: string;
  /** Fractional order inside the column, see rank.ts. */
  rank: string;
  title: string;
  description: string;
  labels: string[];
  assignee: string | null;
  /** Calendar day, YYYY-MM-DD, without a time zone. */
  due: string | null;
  archived: boolean;
  createdAt: string;
  updatedAt: string;
}

export interface Column {
  id: string;
  name: string;
  rank: string;
  /** Most cards the column may hold; null means unlimited. */
  wipLimit: number | null;
}

export interface Board {
  id: string;
  name: string;
  /** Number of operations applied so far. */
  version: number;
  columns: Record<string, Column>;
  cards: Record<string, Card>;
  members: Record<string, Role>;
  createdAt: string;
  updatedAt: string;
}
