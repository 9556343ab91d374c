import { AppError, NotFoundError } from "../errors.js";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface RequestContext {
  method: Method;
  path: string;
  params: Record<string, string>;
  query: URLSearchParams;
  headers: Record<string, string | undefined>;
  body: unknown;
  actor: string;
}

export interface Reply {
  status: number;
  /** Objects are sent as JSON, strings as HTML. */
  body?: unknown;
  headers?: Record<string, string>;
}

export type Handler = (context: RequestContext) => Promise<Reply>;

interface Route {
  method: Method;
  segments: string[];
  handler: Handler;
}

/** A small router: literal segments win over `:parameters` by order of registration. */
export class Router {
  private readonly routes: Route[] = [];

  add(method: Method, pattern: string, handler: Handler): this {
    this.routes.push({ method, segments: split(pattern), handler });
    return this;
  }

  async dispatch(context: Omit<RequestContext, "params">): Promise<Reply> {
    const path = split(context.path);
    const allowed: Method[] = [];
    for (const route of this.routes) {
      const params = match(route.segments, path);
      if (!params) continue;
      if (route.method === context.method) return route.handler({ ...context, params });
      allowed.push(route.method);
    }
    if (allowed.length > 0) {
      throw new AppError(405, "method_not_allowed", `use ${allowed.join(" or ")}`, { allowed });
    }
    throw new NotFoundError("path", context.path);
  }
}

function match(segments: readonly string[], path: readonly string[]): Record<string, string> | null {
  if (segments.length !== path.length) return null;
  const params: Record<string, string> = {};
  for (const [i, segment] of segments.entries()) {
    const value = path[i] as string;
    if (segment.startsWith(":")) params[segment.slice(1)] = value;
    else if (segment !== value) return null;
  }
  return params;
}

function split(path: string): string[] {
  try {
    return path
      .split("/")
      .filter((part) => part !== "")
      .map(decodeURIComponent);
  } catch {
    throw new AppError(400, "bad_request", "malformed escape sequence in the path");
  }
}
