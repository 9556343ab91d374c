import { readFileSync } from "node:fs";
import type { RateLimitOptions } from "./http/rate-limit.js";
import { DEFAULT_RETRY_POLICY } from "./webhooks/index.js";
import type { RetryPolicy } from "./webhooks/index.js";

export interface Config {
  port: number;
  /** "memory" or a directory. */
  storage: string;
  /** User id to the SHA-256 hex digest of the user's token. */
  users: Record<string, string>;
  rateLimit: RateLimitOptions;
  webhooks: RetryPolicy;
}

export const DEFAULTS: Config = {
  port: 8080,
  storage: "memory",
  users: {},
  rateLimit: { burst: 40, perSecond: 10 },
  webhooks: DEFAULT_RETRY_POLICY,
};

/** Reads a JSON file and lets BOARDS_PORT and BOARDS_STORAGE override it. */
export function loadConfig(path: string, env: NodeJS.ProcessEnv = process.env): Config {
  const fromFile = JSON.parse(readFileSync(path, "utf8")) as Partial<Config>;
  const config: Config = {
    ...DEFAULTS,
    ...fromFile,
    rateLimit: { ...DEFAULTS.rateLimit, ...fromFile.rateLimit },
    webhooks: { ...DEFAULTS.webhooks, ...fromFile.webhooks },
  };
  if (env["BOARDS_PORT"] !== undefined) config.port = Number(env["BOARDS_PORT"]);
  if (env["BOARDS_STORAGE"] !== undefined) config.storage = env["BOARDS_STORAGE"];
  return validate(config);
}

function validate(config: Config): Config {
  const problems: string[] = [];
  if (!Number.isInteger(config.port) || config.port < 0 || config.port > 65_535) problems.push("port");
  if (config.storage.trim() === "") problems.push("storage");
  if (config.rateLimit.burst < 1 || config.rateLimit.perSecond <= 0) problems.push("rateLimit");
  if (config.webhooks.maxAttempts < 1) problems.push("webhooks.maxAttempts");
  for (const [userId, digest] of Object.entries(config.users)) {
    if (!/^[0-9a-f]{64}$/.test(digest)) problems.push(`users.${userId}`);
  }
  if (problems.length > 0) throw new Error(`invalid configuration: ${problems.join(", ")}`);
  return config;
}
