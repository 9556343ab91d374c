/**
 * Shape checks for values that come from outside. Nothing here looks at a board;
 * rules that depend on state live in rules.ts.
 */
import { ValidationError } from "../errors.js";
import { isRank } from "./rank.js";
import type { CardFields, Change } from "./changes.js";
import type { Role } from "./types.js";

const MAX_TITLE = 200;
const MAX_TEXT = 20_000;
const ROLES: readonly Role[] = ["owner", "editor", "viewer"];

export type Json = Record<string, unknown>;

export function asObject(value: unknown, field = "body"): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ValidationError(`${field} must be an object`, field);
  }
  return value as Json;
}

/** A single trimmed line of text: board, column and card titles. */
export function cleanTitle(value: unknown, field = "title"): string {
  if (typeof value !== "string") throw new ValidationError(`${field} must be a string`, field);
  const title = value.replace(/\s+/g, " ").trim();
  if (title === "") throw new ValidationError(`${field} must not be empty`, field);
  if (title.length > MAX_TITLE) throw new ValidationError(`${field} is longer than ${MAX_TITLE} characters`, field);
  return title;
}

export function cleanText(value: unknown, field: string): string {
  if (value === undefined) return "";
  if (typeof value !== "string") throw new ValidationError(`${field} must be a string`, field);
  if (value.length > MAX_TEXT) throw new ValidationError(`${field} is longer than ${MAX_TEXT} characters`, field);
  return value.replace(/\r\n?/g, "\n").trimEnd();
}

export function cleanLabels(value: unknown, field: string): string[] {
  if (!Array.isArray(value)) throw new ValidationError(`${field} must be a list`, field);
  const labels = value.map((label) => cleanTitle(label, field).toLowerCase());
  if (labels.some((label) => !/^[\p{L}\p{N}][\p{L}\p{N}_-]*$/u.test(label))) {
    throw new ValidationError(`${field} may only contain letters, digits, - and _`, field);
  }
  return [...new Set(labels)];
}

/** Accepts a real calendar day only: 2026-02-30 is refused, not rolled over. */
export function cleanDay(value: unknown, field: string): string {
  if (typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value)) {
    const parsed = new Date(`${value}T00:00:00Z`);
    if (!Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(value)) return value;
  }
  throw new ValidationError(`${field} must be a day like 2026-03-31`, field);
}

export function cleanWipLimit(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (!Number.isInteger(value) || (value as number) < 1) {
    throw new ValidationError("wipLimit must be a positive whole number or null", "wipLimit");
  }
  return value as number;
}

export function parseRole(value: unknown): Role | null {
  if (value === null) return null;
  if (ROLES.includes(value as Role)) return value as Role;
  throw new ValidationError(`role must be one of ${ROLES.join(", ")} or null`, "role");
}

export function parseFields(input: Json): CardFields {
  const fields: CardFields = {};
  if (input["title"] !== undefined) fields.title = cleanTitle(input["title"]);
  if (input["description"] !== undefined) fields.description = cleanText(input["description"], "description");
  if (input["assignee"] !== undefined) {
    fields.assignee = input["assignee"] === null ? null : cleanTitle(input["assignee"], "assignee");
  }
  if (input["due"] !== undefined) fields.due = input["due"] === null ? null : cleanDay(input["due"], "due");
  return fields;
}

/**
 * Parses a change sent by an offline-capable client. Kinds that only the server
 * may write (restore, rebalance) and administration are not accepted here.
 */
export function parseChange(value: unknown): Change {
  const input = asObject(value, "change");
  switch (input["kind"]) {
    case "card.create":
      return {
        kind: "card.create",
        cardId: idField(input, "cardId"),
        columnId: idField(input, "columnId"),
        rank: rankField(input),
        title: cleanTitle(input["title"]),
        description: cleanText(input["description"], "description"),
      };
    case "card.move":
      return {
        kind: "card.move",
        cardId: idField(input, "cardId"),
        columnId: idField(input, "columnId"),
        rank: rankField(input),
        ...(input["fromColumnId"] === undefined ? {} : { fromColumnId: idField(input, "fromColumnId") }),
      };
    case "card.edit":
      return {
        kind: "card.edit",
        cardId: idField(input, "cardId"),
        fields: parseFields(asObject(input["fields"] ?? {}, "fields")),
        addLabels: cleanLabels(input["addLabels"] ?? [], "addLabels"),
        removeLabels: cleanLabels(input["removeLabels"] ?? [], "removeLabels"),
      };
    case "card.archive":
      return { kind: "card.archive", cardId: idField(input, "cardId"), archived: input["archived"] !== false };
    case "card.delete":
      return { kind: "card.delete", cardId: idField(input, "cardId") };
    default:
      throw new ValidationError(`unknown change kind ${String(input["kind"])}`, "kind");
  }
}

export function idField(input: Json, field: string): string {
  const value = input[field];
  if (typeof value !== "string" || !/^[\w-]{1,64}$/.test(value)) {
    throw new ValidationError(`${field} is not a valid id`, field);
  }
  return value;
}

function rankField(input: Json): string {
  const value = input["rank"];
  if (!isRank(value)) throw new ValidationError("rank is malformed", "rank");
  return value;
}
