export { WebhookDispatcher } from "./dispatcher.js";
export type { DeliveryReport } from "./dispatcher.js";
export { FetchTransport } from "./transport.js";
export { DEFAULT_RETRY_POLICY, decideRetry } from "./retry.js";
export type { RetryPolicy } from "./retry.js";
export type { BoardEvent, Transport, TransportReply, Webhook } from "./types.js";
