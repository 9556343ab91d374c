/**
 * Errors that may cross a layer boundary. Each one carries the HTTP status it
 * maps to, so that the transport does not need to know about domain types.
 */
export class AppError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
    this.name = new.target.name;
  }
}

export class ValidationError extends AppError {
  constructor(message: string, field?: string) {
    super(422, "invalid", message, field === undefined ? {} : { field });
  }
}

export class NotFoundError extends AppError {
  constructor(what: string, id: string) {
    super(404, "not_found", `${what} ${id} does not exist`, { what, id });
  }
}

export class UnauthorizedError extends AppError {
  constructor(message = "a bearer token is required") {
    super(401, "unauthorized", message);
  }
}

export class ForbiddenError extends AppError {
  constructor(actor: string, action: string) {
    super(403, "forbidden", `${actor} may not ${action} on this board`, { action });
  }
}

/** The change cannot be reconciled with what happened since its base version. */
export class ConflictError extends AppError {
  constructor(reason: string, message: string, details: Record<string, unknown> = {}) {
    super(409, reason, message, details);
  }
}

export class RateLimitError extends AppError {
  constructor(readonly retryAfterMs: number) {
    super(429, "rate_limited", "too many requests", { retryAfterMs });
  }
}
