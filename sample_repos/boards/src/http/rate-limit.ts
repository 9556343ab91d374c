import { RateLimitError } from "../errors.js";
import type { Clock } from "../util/clock.js";

export interface RateLimitOptions {
  /** Requests that may arrive at once. */
  burst: number;
  perSecond: number;
}

interface Bucket {
  tokens: number;
  updatedAt: number;
}

/** 令牌桶限流，每个用户一个桶。 */
export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly options: RateLimitOptions,
    private readonly clock: Clock,
  ) {}

  /** Takes one token or throws with the time until the next one is available. */
  check(key: string): void {
    const now = this.clock.now().getTime();
    const tokens = this.available(key, now);
    if (tokens < 1) {
      throw new RateLimitError(Math.ceil(((1 - tokens) / this.options.perSecond) * 1000));
    }
    this.buckets.set(key, { tokens: tokens - 1, updatedAt: now });
  }

  private available(key: string, now: number): number {
    const bucket = this.buckets.get(key);
    if (!bucket) return this.options.burst;
    const earned = ((now - bucket.updatedAt) / 1000) * this.options.perSecond;
    return Math.min(this.options.burst, bucket.tokens + earned);
  }
}
