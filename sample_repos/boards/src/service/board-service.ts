/**
 * The application service: every read and write of a board goes through here.
 *
 * 写操作的固定流程（见 submitLocked）：加载 → 权限检查 → 合并并发操作 → 校验规则 →
 * 写日志 → 保存快照 → 通知 webhook。顺序不能调换：日志先于快照，崩溃后才能重放。
 */
import { tinyid } from "../../vendor/tinyid.js";
import { actionFor, assertCan, can } from "../auth/permissions.js";
import { ConflictError } from "../errors.js";
import {
  allCardsInColumn,
  applyChange,
  checkChange,
  lastRank,
  needsRebalance,
  rankAfter,
  requireCard,
  sortedColumns,
  spreadRanks,
} from "../model/index.js";
import type { Board, Card, Change, Column, Operation } from "../model/index.js";
import type { Role } from "../model/types.js";
import { cleanLabels, cleanText, cleanTitle, cleanWipLimit, parseFields } from "../model/validate.js";
import type { Json } from "../model/validate.js";
import { OperationLog, findUndoable, invert, rebase, supersededBy } from "../oplog/index.js";
import { runQuery } from "../query/index.js";
import type { BoardStore } from "../storage/index.js";
import { dayOf } from "../util/clock.js";
import type { Clock } from "../util/clock.js";
import { KeyedLock } from "../util/keyed-lock.js";
import type { WebhookDispatcher } from "../webhooks/index.js";

export interface Submission {
  /** Chosen by the client so that a retry is recognised. */
  opId?: string;
  /** Board version the client had when the user made the change. */
  baseVersion: number;
  change: Change;
  undoes?: string;
}

export interface SubmitResult {
  status: "applied" | "rebased" | "dropped" | "duplicate";
  board: Board;
  operation: Operation | null;
  reason?: string;
}

export interface ServiceDeps {
  store: BoardStore;
  clock: Clock;
  webhooks?: WebhookDispatcher;
}

export class BoardService {
  private readonly store: BoardStore;
  private readonly log: OperationLog;
  private readonly lock = new KeyedLock();

  constructor(private readonly deps: ServiceDeps) {
    this.store = deps.store;
    this.log = new OperationLog(deps.store);
  }

  async createBoard(actor: string, name: unknown): Promise<Board> {
    const at = this.deps.clock.now().toISOString();
    const board: Board = {
      id: `b_${tinyid()}`,
      name: cleanTitle(name, "name"),
      version: 0,
      columns: {},
      cards: {},
      members: { [actor]: "owner" },
      createdAt: at,
      updatedAt: at,
    };
    await this.store.saveBoard(board);
    return board;
  }

  async listBoards(actor: string): Promise<Board[]> {
    return (await this.store.listBoards()).filter((board) => can(board, actor, "board.read"));
  }

  async getBoard(actor: string, boardId: string): Promise<Board> {
    const board = await this.log.loadBoard(boardId);
    assertCan(board, actor, "board.read");
    return board;
  }

  async setMember(actor: string, boardId: string, userId: string, role: Role | null): Promise<Board> {
    return this.submitLatest(actor, boardId, () => ({ kind: "member.set", userId, role }));
  }

  async addColumn(actor: string, boardId: string, input: Json): Promise<Column> {
    const columnId = `col_${tinyid()}`;
    const board = await this.submitLatest(actor, boardId, (current) => ({
      kind: "column.create",
      columnId,
      name: cleanTitle(input["name"], "name"),
      rank: lastRank(sortedColumns(current)),
      wipLimit: cleanWipLimit(input["wipLimit"]),
    }));
    return board.columns[columnId] as Column;
  }

  async deleteColumn(actor: string, boardId: string, columnId: string): Promise<Board> {
    return this.submitLatest(actor, boardId, () => ({ kind: "column.delete", columnId }));
  }

  async addCard(actor: string, boardId: string, columnId: string, input: Json): Promise<Card> {
    const cardId = `card_${tinyid()}`;
    const board = await this.submitLatest(actor, boardId, (current) => ({
      kind: "card.create",
      cardId,
      columnId,
      rank: lastRank(allCardsInColumn(current, columnId)),
      title: cleanTitle(input["title"]),
      description: cleanText(input["description"], "description"),
    }));
    return board.cards[cardId] as Card;
  }

  /** Places a card right after `afterId`, or first in the column when it is null. */
  async moveCard(
    actor: string,
    boardId: string,
    cardId: string,
    target: { columnId: string; afterId: string | null },
  ): Promise<Board> {
    return this.submitLatest(actor, boardId, (board) => ({
      kind: "card.move",
      cardId,
      columnId: target.columnId,
      rank: rankAfter(allCardsInColumn(board, target.columnId), target.afterId, cardId),
      fromColumnId: requireCard(board, cardId).columnId,
    }));
  }

  async editCard(actor: string, boardId: string, cardId: string, input: Json): Promise<Board> {
    return this.submitLatest(actor, boardId, () => ({
      kind: "card.edit",
      cardId,
      fields: parseFields(input),
      addLabels: cleanLabels(input["addLabels"] ?? [], "addLabels"),
      removeLabels: cleanLabels(input["removeLabels"] ?? [], "removeLabels"),
    }));
  }

  async archiveCard(actor: string, boardId: string, cardId: string, archived: boolean): Promise<Board> {
    return this.submitLatest(actor, boardId, () => ({ kind: "card.archive", cardId, archived }));
  }

  async deleteCard(actor: string, boardId: string, cardId: string): Promise<Board> {
    return this.submitLatest(actor, boardId, () => ({ kind: "card.delete", cardId }));
  }

  /** Searches cards with the query language described in docs/api.md. */
  async search(actor: string, boardId: string, query: string): Promise<Card[]> {
    const board = await this.getBoard(actor, boardId);
    return runQuery(query, { board, user: actor, today: dayOf(this.deps.clock.now()) });
  }

  /** Takes back the actor's latest change unless somebody else built on it. */
  async undo(actor: string, boardId: string): Promise<SubmitResult> {
    return this.lock.run(boardId, async () => {
      const board = await this.getBoard(actor, boardId);
      const ops = await this.log.since(board, 0);
      const target = findUndoable(ops, actor);
      if (!target?.inverse) throw new ConflictError("nothing_to_undo", "there is nothing to undo");
      const later = ops.filter((op) => op.version > target.version);
      const blocker = supersededBy(target, later);
      if (blocker) {
        throw new ConflictError("undo_superseded", `${blocker.author} has changed this since`, { by: blocker.id });
      }
      return this.submitLocked(actor, boardId, {
        baseVersion: target.version,
        change: target.inverse,
        undoes: target.id,
      });
    });
  }

  /** Entry point for changes made on a possibly outdated copy of the board. */
  async submit(actor: string, boardId: string, submission: Submission): Promise<SubmitResult> {
    return this.lock.run(boardId, () => this.submitLocked(actor, boardId, submission));
  }

  /** For callers without a version of their own: builds the change on the latest board. */
  private async submitLatest(actor: string, boardId: string, build: (board: Board) => Change): Promise<Board> {
    return this.lock.run(boardId, async () => {
      const board = await this.getBoard(actor, boardId);
      const result = await this.submitLocked(actor, boardId, { baseVersion: board.version, change: build(board) });
      return result.board;
    });
  }

  private async submitLocked(actor: string, boardId: string, submission: Submission): Promise<SubmitResult> {
    const board = await this.log.loadBoard(boardId);
    assertCan(board, actor, actionFor(submission.change.kind));
    const duplicate = submission.opId === undefined ? null : await this.log.find(boardId, submission.opId);
    if (duplicate) return { status: "duplicate", board, operation: duplicate };

    const concurrent = await this.log.since(board, submission.baseVersion);
    const outcome = rebase(submission.change, concurrent, board);
    if (outcome.status === "drop") {
      return { status: "dropped", board, operation: null, reason: outcome.reason };
    }
    checkChange(board, outcome.change);

    const operation: Operation = {
      id: submission.opId ?? `op_${tinyid()}`,
      boardId,
      version: board.version + 1,
      baseVersion: submission.baseVersion,
      author: actor,
      at: this.deps.clock.now().toISOString(),
      change: outcome.change,
      inverse: invert(board, outcome.change),
      ...(submission.undoes === undefined ? {} : { undoes: submission.undoes }),
    };
    const next = await this.commit(board, operation);
    const balanced = await this.rebalanceIfNeeded(actor, next, outcome.change);
    return { status: outcome.rebased ? "rebased" : "applied", board: balanced, operation };
  }

  /** 先写日志再保存快照；两者之间崩溃时，loadBoard 会重放日志补上。 */
  private async commit(board: Board, operation: Operation): Promise<Board> {
    await this.log.append(operation);
    const next = applyChange(board, operation.change, operation);
    await this.store.saveBoard(next);
    this.deps.webhooks?.publish({
      id: operation.id,
      boardId: board.id,
      version: operation.version,
      kind: operation.change.kind,
      author: operation.author,
      at: operation.at,
      payload: operation.change,
    });
    return next;
  }

  /** Rewrites the ranks of a column in its own operation when they got too long. */
  private async rebalanceIfNeeded(actor: string, board: Board, change: Change): Promise<Board> {
    if (change.kind !== "card.move" && change.kind !== "card.create") return board;
    const cards = allCardsInColumn(board, change.columnId);
    if (!needsRebalance(cards)) return board;
    const fresh = spreadRanks(cards.length);
    const ranks = Object.fromEntries(cards.map((card, i) => [card.id, { from: card.rank, to: fresh[i] as string }]));
    return this.commit(board, {
      id: `op_${tinyid()}`,
      boardId: board.id,
      version: board.version + 1,
      baseVersion: board.version,
      author: actor,
      at: this.deps.clock.now().toISOString(),
      change: { kind: "column.rebalance", columnId: change.columnId, ranks },
      inverse: null,
    });
  }
}
