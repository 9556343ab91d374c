import type { Transport, TransportReply } from "./types.js";

/** Sends webhooks with fetch; redirects are not followed. */
export class FetchTransport implements Transport {
  constructor(private readonly timeoutMs = 10_000) {}

  async post(url: string, body: string, headers: Record<string, string>): Promise<TransportReply> {
    const response = await fetch(url, {
      method: "POST",
      body,
      headers,
      redirect: "manual",
      signal: AbortSignal.timeout(this.timeoutMs),
    });
    await response.body?.cancel();
    const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
    return Number.isFinite(retryAfter) ? { status: response.status, retryAfter } : { status: response.status };
  }
}
