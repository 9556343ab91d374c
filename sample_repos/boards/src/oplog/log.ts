/**
 * The operation log of all boards. It owns version arithmetic: which operations
 * a client has not seen, whether its base is still known, and how a board is
 * brought up to date after a crash between "append" and "save".
 */
import { ConflictError, ValidationError } from "../errors.js";
import { applyChange } from "../model/board.js";
import type { Operation } from "../model/changes.js";
import type { Board } from "../model/types.js";
import type { BoardStore } from "../storage/index.js";

export class OperationLog {
  constructor(private readonly store: BoardStore) {}

  /** Loads a board and replays operations that were logged but not saved. */
  async loadBoard(boardId: string): Promise<Board> {
    const saved = await this.store.requireBoard(boardId);
    const missing = await this.store.readOperations(boardId, saved.version);
    return missing.reduce((board, op) => applyChange(board, op.change, op), saved);
  }

  async append(op: Operation): Promise<void> {
    await this.store.appendOperation(op);
  }

  /** Operations after `baseVersion`, oldest first. */
  async since(board: Board, baseVersion: number): Promise<Operation[]> {
    if (!Number.isInteger(baseVersion) || baseVersion < 0 || baseVersion > board.version) {
      throw new ValidationError(`base version ${baseVersion} is unknown`, "baseVersion");
    }
    const ops = await this.store.readOperations(board.id, baseVersion);
    if (ops.length !== board.version - baseVersion) {
      throw new ConflictError("log_gap", "the operation log is incomplete", { version: board.version });
    }
    return ops;
  }

  /** Finds an operation a client has already sent, e.g. before a lost reply. */
  async find(boardId: string, opId: string): Promise<Operation | null> {
    const ops = await this.store.readOperations(boardId, 0);
    return ops.find((op) => op.id === opId) ?? null;
  }
}
