/*
 * backoff 0.4.1 - exponential delays with a cap and jitter
 *
 * MIT License, Copyright (c) 2024 Ingrid Solheim
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software, to deal in it without restriction, provided that this notice
 * is included in all copies. The software is provided "as is", without warranty.
 */
export interface BackoffOptions {
  baseMs: number;
  maxMs: number;
  factor?: number;
  /** Share of the delay that is random, 0 to 1. */
  jitter?: number;
  random?: () => number;
}

/** Delay before retry number `retry`, counted from 1. */
export function backoffDelay(retry: number, options: BackoffOptions): number {
  const { baseMs, maxMs, factor = 2, jitter = 0, random = Math.random } = options;
  const ideal = Math.min(maxMs, baseMs * factor ** Math.max(0, retry - 1));
  return Math.round(ideal * (1 - jitter * random()));
}
