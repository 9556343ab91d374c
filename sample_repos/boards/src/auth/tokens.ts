/**
 * Bearer token authentication. Only SHA-256 digests of tokens are configured, so
 * a leaked configuration file does not hand out working credentials.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { UnauthorizedError } from "../errors.js";

export class TokenAuthenticator {
  private readonly digests: Array<{ userId: string; digest: Buffer }>;

  /** @param users maps user ids to the hex digest of their token. */
  constructor(users: Record<string, string>) {
    this.digests = Object.entries(users).map(([userId, hex]) => ({ userId, digest: Buffer.from(hex, "hex") }));
  }

  /** The user behind an Authorization header. */
  authenticate(header: string | undefined): string {
    if (header === undefined) throw new UnauthorizedError();
    const [scheme, token] = header.split(" ");
    if (scheme?.toLowerCase() !== "bearer" || !token) throw new UnauthorizedError("unsupported authorization scheme");
    const presented = digestToken(token);
    // Compare against every entry so that timing does not reveal a match.
    let found: string | null = null;
    for (const { userId, digest } of this.digests) {
      if (digest.length === presented.length && timingSafeEqual(digest, presented)) found = userId;
    }
    if (found === null) throw new UnauthorizedError("unknown token");
    return found;
  }
}

export function digestToken(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}
