/** Time as a dependency, so that tests can control it. */
export interface Clock {
  now(): Date;
  sleep(ms: number): Promise<void>;
}

export const systemClock: Clock = {
  now: () => new Date(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** Calendar day of an instant in UTC. */
export function dayOf(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}
