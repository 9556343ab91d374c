import { FileStore } from "./file.js";
import { MemoryStore } from "./memory.js";
import type { BoardStore } from "./adapter.js";

export { BaseStore } from "./adapter.js";
export type { BoardStore } from "./adapter.js";
export { FileStore } from "./file.js";
export { MemoryStore } from "./memory.js";

/** Storage backend for a location: "memory" or the path of a directory. */
export function openStore(location: string): BoardStore {
  return location === "memory" ? new MemoryStore() : new FileStore(location);
}
