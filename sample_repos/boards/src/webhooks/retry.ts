/**
 * webhook 重试策略：什么时候再试一次，什么时候放弃。
 *
 * 这里只做决定，不做等待；真正的发送和等待在 dispatcher.ts 里。
 */
import { backoffDelay } from "../../vendor/backoff.js";

export interface RetryPolicy {
  maxAttempts: number;
  /** 从第一次发送算起，超过这个时间就不再重试。 */
  maxAgeMs: number;
  baseDelayMs: number;
  maxDelayMs: number;
  jitter: number;
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxAttempts: 8,
  maxAgeMs: 6 * 60 * 60 * 1000,
  baseDelayMs: 2_000,
  maxDelayMs: 30 * 60 * 1000,
  jitter: 0.3,
};

export type StopReason = "delivered" | "gone" | "rejected" | "attempts_exhausted" | "too_old";
export type RetryDecision = { retry: true; delayMs: number } | { retry: false; reason: StopReason };

export interface AttemptResult {
  /** HTTP status, or null when no reply arrived (timeout, refused connection). */
  status: number | null;
  retryAfter?: number;
}

/**
 * Decides whether a webhook delivery is tried again after attempt number
 * `attempt`. It stops when the receiver accepted the event (2xx), is gone (410)
 * or rejected it for good (other 4xx, except 408, 425 and 429), when all attempts
 * are used up, or when the next attempt would come later than maxAgeMs.
 */
export function decideRetry(policy: RetryPolicy, attempt: number, result: AttemptResult, ageMs: number): RetryDecision {
  const { status } = result;
  if (status !== null && status >= 200 && status < 300) return stop("delivered");
  if (status === 410) return stop("gone");
  if (status !== null && isPermanent(status)) return stop("rejected");
  if (attempt >= policy.maxAttempts) return stop("attempts_exhausted");
  const delayMs = Math.max(delayFor(policy, attempt), (result.retryAfter ?? 0) * 1000);
  if (ageMs + delayMs > policy.maxAgeMs) return stop("too_old");
  return { retry: true, delayMs };
}

function isPermanent(status: number): boolean {
  return status >= 400 && status < 500 && ![408, 425, 429].includes(status);
}

function delayFor(policy: RetryPolicy, attempt: number): number {
  return backoffDelay(attempt, { baseMs: policy.baseDelayMs, maxMs: policy.maxDelayMs, jitter: policy.jitter });
}

function stop(reason: StopReason): RetryDecision {
  return { retry: false, reason };
}
