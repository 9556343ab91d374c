import type { Card } from "../model/types.js";
import { evaluate } from "./evaluate.js";
import type { EvaluationContext } from "./evaluate.js";
import { parseQuery } from "./parser.js";
import type { Query } from "./parser.js";

export { parseQuery } from "./parser.js";
export type { Query } from "./parser.js";
export { QuerySyntaxError } from "./lexer.js";

/** Archived cards stay hidden unless the query asks for them with is:archived. */
export function runQuery(text: string, context: EvaluationContext): Card[] {
  const query = parseQuery(text);
  const cards = evaluate(query, context);
  return asksForArchived(query) ? cards : cards.filter((card) => !card.archived);
}

function asksForArchived(query: Query): boolean {
  if (query.type === "and" || query.type === "or") return query.parts.some(asksForArchived);
  if (query.type === "not") return asksForArchived(query.inner);
  return query.type === "field" && query.field === "is" && query.value.toLowerCase() === "archived";
}
