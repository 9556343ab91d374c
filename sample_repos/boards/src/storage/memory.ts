import type { Operation } from "../model/changes.js";
import type { Board } from "../model/types.js";
import type { Webhook } from "../webhooks/types.js";
import { BaseStore } from "./adapter.js";

/** Keeps everything in memory; used by tests and by `"storage": "memory"`. */
export class MemoryStore extends BaseStore {
  private readonly boards = new Map<string, Board>();
  private readonly operations = new Map<string, Operation[]>();
  private readonly hooks = new Map<string, Webhook[]>();

  async loadBoard(boardId: string): Promise<Board | null> {
    const board = this.boards.get(boardId);
    return board ? structuredClone(board) : null;
  }

  async saveBoard(board: Board): Promise<void> {
    this.boards.set(board.id, structuredClone(board));
  }

  async appendOperation(op: Operation): Promise<void> {
    const ops = this.operations.get(op.boardId) ?? [];
    this.operations.set(op.boardId, [...ops, structuredClone(op)]);
  }

  async readOperations(boardId: string, afterVersion: number): Promise<Operation[]> {
    return (this.operations.get(boardId) ?? []).filter((op) => op.version > afterVersion);
  }

  async loadHooks(boardId: string): Promise<Webhook[]> {
    return structuredClone(this.hooks.get(boardId) ?? []);
  }

  async saveHooks(boardId: string, hooks: Webhook[]): Promise<void> {
    this.hooks.set(boardId, structuredClone(hooks));
  }

  protected async boardIds(): Promise<string[]> {
    return [...this.boards.keys()];
  }
}
