import { NotFoundError } from "../errors.js";
import type { Operation } from "../model/changes.js";
import type { Board } from "../model/types.js";
import type { Webhook } from "../webhooks/types.js";

/** What the rest of the server needs from a storage backend. */
export interface BoardStore {
  loadBoard(boardId: string): Promise<Board | null>;
  /** Like loadBoard, but a missing board is an error. */
  requireBoard(boardId: string): Promise<Board>;
  saveBoard(board: Board): Promise<void>;
  listBoards(): Promise<Board[]>;
  appendOperation(op: Operation): Promise<void>;
  /** Operations with a version above `afterVersion`, oldest first. */
  readOperations(boardId: string, afterVersion: number): Promise<Operation[]>;
  loadHooks(boardId: string): Promise<Webhook[]>;
  saveHooks(boardId: string, hooks: Webhook[]): Promise<void>;
}

export abstract class BaseStore implements BoardStore {
  abstract loadBoard(boardId: string): Promise<Board | null>;
  abstract saveBoard(board: Board): Promise<void>;
  abstract appendOperation(op: Operation): Promise<void>;
  abstract readOperations(boardId: string, afterVersion: number): Promise<Operation[]>;
  abstract loadHooks(boardId: string): Promise<Webhook[]>;
  abstract saveHooks(boardId: string, hooks: Webhook[]): Promise<void>;
  protected abstract boardIds(): Promise<string[]>;

  async requireBoard(boardId: string): Promise<Board> {
    const board = await this.loadBoard(boardId);
    if (!board) throw new NotFoundError("board", boardId);
    return board;
  }

  async listBoards(): Promise<Board[]> {
    const boards = await Promise.all((await this.boardIds()).map((id) => this.loadBoard(id)));
    return boards.filter((board): board is Board => board !== null).sort((a, b) => a.name.localeCompare(b.name));
  }
}
