import { ValidationError } from "../errors.js";

export type TokenKind = "word" | "field" | "op" | "open" | "close" | "not" | "or" | "end";

export interface Token {
  kind: TokenKind;
  text: string;
  /** Offset in the query, for error messages. */
  at: number;
}

export class QuerySyntaxError extends ValidationError {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(`${message} at position ${at + 1}`, "q");
  }
}

/** Longest match first: "<=" must win over "<". */
const OPERATORS = ["<=", ">=", "<", ">", ":"];

/**
 * Splits a query into tokens. A word directly followed by an operator is a field
 * name; quotes keep spaces together and take away any special meaning.
 */
export function tokenize(input: string): Token[] {
  const tokens: Token[] = [];
  let i = 0;
  const push = (kind: TokenKind, text: string, at: number) => tokens.push({ kind, text, at });
  while (i < input.length) {
    const start = i;
    const char = input.charAt(i);
    if (/\s/.test(char)) {
      i++;
    } else if (char === '"') {
      const end = input.indexOf('"', i + 1);
      if (end < 0) throw new QuerySyntaxError("unterminated quote", start);
      push("word", input.slice(i + 1, end), start);
      i = end + 1;
    } else if (char === "(" || char === ")") {
      push(char === "(" ? "open" : "close", char, start);
      i++;
    } else if (char === "-" && /\S/.test(input.charAt(i + 1))) {
      push("not", char, start);
      i++;
    } else {
      const word = /^[^\s"():<>]+/.exec(input.slice(i))?.[0];
      if (word === undefined) throw new QuerySyntaxError(`unexpected ${char}`, start);
      i += word.length;
      const operator = OPERATORS.find((op) => input.startsWith(op, i));
      if (operator !== undefined) {
        push("field", word.toLowerCase(), start);
        push("op", operator, i);
        i += operator.length;
      } else {
        push(word === "OR" ? "or" : "word", word, start);
      }
    }
  }
  push("end", "", input.length);
  return tokens;
}
