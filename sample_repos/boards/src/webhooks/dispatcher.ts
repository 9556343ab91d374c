import type { BoardStore } from "../storage/index.js";
import type { Clock } from "../util/clock.js";
import { DEFAULT_RETRY_POLICY, decideRetry } from "./retry.js";
import type { AttemptResult, RetryPolicy, StopReason } from "./retry.js";
import type { BoardEvent, Transport, Webhook } from "./types.js";

export interface DeliveryReport {
  hookId: string;
  attempts: number;
  outcome: StopReason;
}

/**
 * Delivers board events to subscribers in the background. publish() never makes
 * a board operation wait or fail; whatever goes wrong ends up in the report.
 */
export class WebhookDispatcher {
  private readonly pending = new Set<Promise<unknown>>();

  constructor(
    private readonly store: BoardStore,
    private readonly transport: Transport,
    private readonly clock: Clock,
    private readonly policy: RetryPolicy = DEFAULT_RETRY_POLICY,
    private readonly onReport: (report: DeliveryReport) => void = () => {},
  ) {}

  publish(event: BoardEvent): void {
    const work = this.fanOut(event)
      .catch(() => undefined)
      .finally(() => this.pending.delete(work));
    this.pending.add(work);
  }

  /** Waits until everything published so far has been delivered or given up. */
  async idle(): Promise<void> {
    await Promise.all(this.pending);
  }

  private async fanOut(event: BoardEvent): Promise<void> {
    const hooks = await this.store.loadHooks(event.boardId);
    const wanted = hooks.filter((hook) => hook.active && (hook.kinds.length === 0 || hook.kinds.includes(event.kind)));
    await Promise.all(wanted.map((hook) => this.deliver(hook, event)));
  }

  /** Sends one event to one hook, again and again until decideRetry says stop. */
  async deliver(hook: Webhook, event: BoardEvent): Promise<DeliveryReport> {
    const startedAt = this.clock.now().getTime();
    for (let attempt = 1; ; attempt++) {
      const result = await this.attempt(hook, event, attempt);
      const decision = decideRetry(this.policy, attempt, result, this.clock.now().getTime() - startedAt);
      if (decision.retry) {
        await this.clock.sleep(decision.delayMs);
        continue;
      }
      const outcome = decision.reason;
      if (outcome === "gone") await this.deactivate(event.boardId, hook.id);
      const report = { hookId: hook.id, attempts: attempt, outcome };
      this.onReport(report);
      return report;
    }
  }

  private async attempt(hook: Webhook, event: BoardEvent, attempt: number): Promise<AttemptResult> {
    const body = JSON.stringify(event);
    try {
      return await this.transport.post(hook.url, body, {
        "content-type": "application/json",
        "x-boards-delivery": `${event.id}.${attempt}`,
      });
    } catch {
      return { status: null };
    }
  }

  /** 接收方返回 410：停用这个订阅，以后的事件不再发送。 */
  private async deactivate(boardId: string, hookId: string): Promise<void> {
    const hooks = await this.store.loadHooks(boardId);
    await this.store.saveHooks(
      boardId,
      hooks.map((hook) => (hook.id === hookId ? { ...hook, active: false } : hook)),
    );
  }
}
