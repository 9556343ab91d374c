/**
 * HTTP transport. handleRequest() turns a parsed request into a reply and never
 * throws; createHttpServer() connects it to node's http module.
 */
import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import type { TokenAuthenticator } from "../auth/tokens.js";
import { AppError, RateLimitError } from "../errors.js";
import type { RateLimiter } from "./rate-limit.js";
import type { Method, Reply, Router } from "./router.js";

export interface HttpDeps {
  router: Router;
  authenticator: TokenAuthenticator;
  limiter: RateLimiter;
}

export interface RawRequest {
  method: string;
  url: string;
  headers: Record<string, string | undefined>;
  body: string;
  address?: string;
}

export async function handleRequest(deps: HttpDeps, request: RawRequest): Promise<Reply> {
  try {
    const url = new URL(request.url, "http://localhost");
    const actor = deps.authenticator.authenticate(request.headers["authorization"]);
    deps.limiter.check(`user:${actor}`);
    return await deps.router.dispatch({
      method: request.method as Method,
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: parseBody(request.body),
      actor,
    });
  } catch (error) {
    return errorReply(error);
  }
}

export function createHttpServer(deps: HttpDeps): Server {
  return createServer(async (incoming, outgoing) => {
    let reply: Reply;
    try {
      const body = await readBody(incoming);
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
      );
      const { method = "GET", url = "/" } = incoming;
      reply = await handleRequest(deps, { method, url, headers, body, address: incoming.socket.remoteAddress ?? "" });
    } catch (error) {
      reply = errorReply(error);
    }
    const { text, type } = encode(reply.body);
    outgoing.writeHead(reply.status, { "content-type": type, ...reply.headers });
    outgoing.end(text);
  });
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function parseBody(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError(400, "bad_json", "the request body is not valid JSON");
  }
}

function errorReply(error: unknown): Reply {
  if (!(error instanceof AppError)) {
    console.error(error);
    return { status: 500, body: { error: { code: "internal", message: "internal error" } } };
  }
  const { status, code, message, details } = error;
  const headers: Record<string, string> =
    error instanceof RateLimitError ? { "retry-after": String(Math.ceil(error.retryAfterMs / 1000)) } : {};
  return { status, headers, body: { error: { code, message, ...details } } };
}

function encode(body: unknown): { text: string; type: string } {
  if (body === undefined) return { text: "", type: "text/plain" };
  if (typeof body === "string") return { text: body, type: "text/html; charset=utf-8" };
  return { text: JSON.stringify(body), type: "application/json; charset=utf-8" };
}
