/** Shared set-up for the test suite. */
import type { Board, Change, Operation } from "../src/model/index.js";
import { BoardService } from "../src/service/board-service.js";
import { MemoryStore } from "../src/storage/index.js";
import type { BoardStore } from "../src/storage/index.js";
import type { Clock } from "../src/util/clock.js";
import type { Transport, TransportReply } from "../src/webhooks/index.js";

/** A clock that only moves when told to; sleeping moves it at once. */
export class ManualClock implements Clock {
  readonly slept: number[] = [];

  constructor(private time = Date.parse("2026-03-10T08:00:00Z")) {}

  now(): Date {
    return new Date(this.time);
  }

  advance(ms: number): void {
    this.time += ms;
  }

  async sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    this.advance(ms);
  }
}

/** Answers with the given statuses in order, then repeats the last one. */
export class ScriptedTransport implements Transport {
  readonly sent: Array<{ url: string; body: string; headers: Record<string, string> }> = [];

  constructor(private readonly replies: Array<TransportReply | Error>) {}

  async post(url: string, body: string, headers: Record<string, string>): Promise<TransportReply> {
    const reply = this.replies[Math.min(this.sent.length, this.replies.length - 1)] ?? { status: 204 };
    this.sent.push({ url, body, headers });
    if (reply instanceof Error) throw reply;
    return reply;
  }
}

/** A service with one board: columns Todo and Done, cards a, b and c in Todo. */
export async function boardWithCards(store: BoardStore = new MemoryStore()) {
  const clock = new ManualClock();
  const service = new BoardService({ store, clock });
  const { id } = await service.createBoard("ann", "Launch");
  const todo = await service.addColumn("ann", id, { name: "Todo" });
  const done = await service.addColumn("ann", id, { name: "Done" });
  const cards: string[] = [];
  for (const title of ["a", "b", "c"]) {
    cards.push((await service.addCard("ann", id, todo.id, { title })).id);
    clock.advance(1000);
  }
  await service.setMember("ann", id, "ben", "editor");
  const [a, b, c] = cards as [string, string, string];
  return { service, store, clock, boardId: id, todo: todo.id, done: done.id, a, b, c };
}

/** Titles per column, in display order: {"Todo": "a b c"}. */
export function layout(board: Board): Record<string, string> {
  const result: Record<string, string> = {};
  for (const column of Object.values(board.columns)) {
    const cards = Object.values(board.cards).filter((card) => card.columnId === column.id);
    const ordered = cards.sort((x, y) => (x.rank < y.rank ? -1 : 1));
    result[column.name] = ordered.map((card) => card.title).join(" ");
  }
  return result;
}

/** Wraps a change as if somebody else had already got it into the log. */
export function logged(change: Change, version = 1): Operation {
  return {
    id: `op_${version}`,
    boardId: "b_1",
    version,
    baseVersion: version - 1,
    author: "somebody",
    at: "2026-03-10T08:00:00.000Z",
    change,
    inverse: null,
  };
}
