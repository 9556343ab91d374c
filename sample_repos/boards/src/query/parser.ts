/**
 * 查询语言的递归下降解析器。
 *
 *   query  := or
 *   or     := and ("OR" and)*
 *   and    := unary unary*
 *   unary  := "-" unary | "(" or ")" | term
 *   term   := WORD | FIELD OP WORD
 */
import { QuerySyntaxError, tokenize } from "./lexer.js";
import type { Token, TokenKind } from "./lexer.js";

export type Comparison = ":" | "<" | "<=" | ">" | ">=";

export type Query =
  | { type: "all" }
  | { type: "text"; text: string }
  | { type: "field"; field: Field; op: Comparison; value: string }
  | { type: "not"; inner: Query }
  | { type: "and" | "or"; parts: Query[] };

const FIELDS = ["label", "assignee", "column", "title", "due", "is"] as const;
export type Field = (typeof FIELDS)[number];

const MAX_DEPTH = 20;

export function parseQuery(input: string): Query {
  return new Parser(tokenize(input)).parse();
}

class Parser {
  private next = 0;
  private depth = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  parse(): Query {
    if (this.peek().kind === "end") return { type: "all" };
    const query = this.parseOr();
    this.expect("end");
    return query;
  }

  private parseOr(): Query {
    const parts = [this.parseAnd()];
    while (this.peek().kind === "or") {
      this.take();
      parts.push(this.parseAnd());
    }
    return parts.length === 1 ? (parts[0] as Query) : { type: "or", parts };
  }

  private parseAnd(): Query {
    const parts = [this.parseUnary()];
    while (!["or", "close", "end"].includes(this.peek().kind)) parts.push(this.parseUnary());
    return parts.length === 1 ? (parts[0] as Query) : { type: "and", parts };
  }

  private parseUnary(): Query {
    // 限制嵌套深度，防止恶意查询耗尽调用栈。
    if (this.depth >= MAX_DEPTH) throw this.error("the query is nested too deeply");
    this.depth++;
    try {
      const kind = this.peek().kind;
      if (kind === "not") {
        this.take();
        return { type: "not", inner: this.parseUnary() };
      }
      if (kind === "open") {
        this.take();
        const inner = this.parseOr();
        this.expect("close");
        return inner;
      }
      return this.parseTerm();
    } finally {
      this.depth--;
    }
  }

  private parseTerm(): Query {
    if (this.peek().kind !== "field") return { type: "text", text: this.expect("word").text };
    const unknown = this.error(`unknown field ${this.peek().text}`);
    const name = this.take().text;
    const field = FIELDS.find((known) => known === name);
    if (field === undefined) throw unknown;
    const op = this.expect("op").text as Comparison;
    if (op !== ":" && field !== "due") throw this.error(`${name} can only be compared with ":"`);
    return { type: "field", field, op, value: this.expect("word").text };
  }

  private peek(): Token {
    return this.tokens[Math.min(this.next, this.tokens.length - 1)] as Token;
  }

  private take(): Token {
    const token = this.peek();
    this.next++;
    return token;
  }

  private expect(kind: TokenKind): Token {
    if (this.peek().kind !== kind) throw this.error(`expected ${kind}, found ${this.peek().text || "the end"}`);
    return this.take();
  }

  private error(message: string): QuerySyntaxError {
    return new QuerySyntaxError(message, this.peek().at);
  }
}
