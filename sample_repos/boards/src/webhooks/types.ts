import type { ChangeKind } from "../model/changes.js";

export interface Webhook {
  id: string;
  url: string;
  /** Kinds to deliver; an empty list means all of them. */
  kinds: ChangeKind[];
  active: boolean;
}

export interface BoardEvent {
  id: string;
  boardId: string;
  version: number;
  kind: ChangeKind;
  author: string;
  at: string;
  payload: unknown;
}

export interface TransportReply {
  status: number;
  /** Seconds, from the Retry-After header. */
  retryAfter?: number;
}

/** Sends one HTTP request; throws when no reply was received. */
export interface Transport {
  post(url: string, body: string, headers: Record<string, string>): Promise<TransportReply>;
}
