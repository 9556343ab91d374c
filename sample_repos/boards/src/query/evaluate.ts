/** Runs a parsed query over the cards of a board. */
import { compareRanked } from "../model/rank.js";
import type { Board, Card } from "../model/types.js";
import type { Comparison, Query } from "./parser.js";

export interface EvaluationContext {
  board: Board;
  /** Today as YYYY-MM-DD; decides what is overdue. */
  today: string;
  user: string;
}

export function evaluate(query: Query, context: EvaluationContext): Card[] {
  return Object.values(context.board.cards)
    .filter((card) => matches(card, query, context))
    .sort((a, b) => byColumn(a, b, context.board) || compareRanked(a, b));
}

function matches(card: Card, query: Query, context: EvaluationContext): boolean {
  switch (query.type) {
    case "all":
      return true;
    case "text":
      return includes(card.title, query.text) || includes(card.description, query.text);
    case "not":
      return !matches(card, query.inner, context);
    case "and":
      return query.parts.every((part) => matches(card, part, context));
    case "or":
      return query.parts.some((part) => matches(card, part, context));
    case "field":
      return matchesField(card, query, context);
  }
}

function matchesField(card: Card, term: Extract<Query, { type: "field" }>, context: EvaluationContext): boolean {
  switch (term.field) {
    case "label":
      return card.labels.includes(term.value.toLowerCase());
    case "assignee":
      if (term.value === "none") return card.assignee === null;
      return card.assignee === (term.value === "me" ? context.user : term.value);
    case "column":
      return context.board.columns[card.columnId]?.name.toLowerCase() === term.value.toLowerCase();
    case "title":
      return includes(card.title, term.value);
    case "due":
      if (term.value === "none") return card.due === null;
      return card.due !== null && compareDays(card.due, term.op, term.value);
    case "is":
      return hasState(card, term.value.toLowerCase(), context.today);
  }
}

function hasState(card: Card, state: string, today: string): boolean {
  if (state === "archived") return card.archived;
  const open = !card.archived;
  return state === "overdue" && open && card.due !== null && card.due < today;
}

/** Days are ISO strings, so comparing text compares dates. */
function compareDays(left: string, op: Comparison, right: string): boolean {
  if (op.startsWith("<") && left < right) return true;
  if (op.startsWith(">") && left > right) return true;
  return left === right && op !== "<" && op !== ">";
}

function byColumn(a: Card, b: Card, board: Board): number {
  const left = board.columns[a.columnId];
  const right = board.columns[b.columnId];
  return left && right ? compareRanked(left, right) : 0;
}

function includes(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}
