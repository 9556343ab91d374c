import { tinyid } from "../../vendor/tinyid.js";
import { assertCan } from "../auth/permissions.js";
import { ValidationError } from "../errors.js";
import { cardsInColumn, parseChange, sortedColumns } from "../model/index.js";
import type { Board, ChangeKind } from "../model/index.js";
import { asObject, idField, parseRole } from "../model/validate.js";
import { renderBoardPage } from "../render/BoardPage.js";
import type { BoardService, SubmitResult } from "../service/board-service.js";
import type { BoardStore } from "../storage/index.js";
import { dayOf } from "../util/clock.js";
import type { Reply, RequestContext, Router } from "./router.js";

/** Registers every endpoint; docs/api.md lists them for API users. */
export function registerRoutes(router: Router, service: BoardService, store: BoardStore): Router {
  router.add("GET", "/healthz", async () => ok({ ok: true }));

  router.add("GET", "/boards", async ({ actor }) => {
    const boards = await service.listBoards(actor);
    return ok(boards.map(({ id, name, version }) => ({ id, name, version })));
  });
  router.add("POST", "/boards", async ({ actor, body }) => {
    const input = asObject(body);
    return created(present(await service.createBoard(actor, input["name"])));
  });
  router.add("GET", "/boards/:boardId", async ({ actor, params }) => {
    return ok(present(await service.getBoard(actor, id(params, "boardId"))));
  });
  router.add("GET", "/boards/:boardId/page", async ({ actor, params }) => {
    const board = await service.getBoard(actor, id(params, "boardId"));
    return { status: 200, body: renderBoardPage(board, dayOf(new Date())) };
  });
  router.add("GET", "/boards/:boardId/search", async ({ actor, params, query }) => {
    return ok(await service.search(actor, id(params, "boardId"), query.get("q") ?? ""));
  });
  router.add("PUT", "/boards/:boardId/members/:userId", async ({ actor, params, body }) => {
    const role = parseRole(asObject(body)["role"]);
    return ok(present(await service.setMember(actor, id(params, "boardId"), id(params, "userId"), role)));
  });

  router.add("POST", "/boards/:boardId/columns", async ({ actor, params, body }) => {
    return created(await service.addColumn(actor, id(params, "boardId"), asObject(body)));
  });
  router.add("DELETE", "/boards/:boardId/columns/:columnId", async ({ actor, params }) => {
    return ok(present(await service.deleteColumn(actor, id(params, "boardId"), id(params, "columnId"))));
  });

  router.add("POST", "/boards/:boardId/columns/:columnId/cards", async ({ actor, params, body }) => {
    const columnId = id(params, "columnId");
    return created(await service.addCard(actor, id(params, "boardId"), columnId, asObject(body)));
  });
  router.add("PATCH", "/boards/:boardId/cards/:cardId", async ({ actor, params, body }) => {
    const cardId = id(params, "cardId");
    return ok(present(await service.editCard(actor, id(params, "boardId"), cardId, asObject(body))));
  });
  router.add("POST", "/boards/:boardId/cards/:cardId/move", moveCard(service));
  router.add("POST", "/boards/:boardId/cards/:cardId/archive", async ({ actor, params, body }) => {
    const archived = asObject(body ?? {})["archived"] !== false;
    return ok(present(await service.archiveCard(actor, id(params, "boardId"), id(params, "cardId"), archived)));
  });
  router.add("DELETE", "/boards/:boardId/cards/:cardId", async ({ actor, params }) => {
    return ok(present(await service.deleteCard(actor, id(params, "boardId"), id(params, "cardId"))));
  });

  router.add("POST", "/boards/:boardId/ops", submitOperation(service));
  router.add("POST", "/boards/:boardId/undo", async ({ actor, params }) => {
    return submitted(await service.undo(actor, id(params, "boardId")));
  });
  router.add("POST", "/boards/:boardId/webhooks", addWebhook(service, store));
  return router;
}

function moveCard(service: BoardService) {
  return async ({ actor, params, body }: RequestContext): Promise<Reply> => {
    const input = asObject(body);
    const target = {
      columnId: idField(input, "columnId"),
      afterId: anchor(input["afterId"]),
    };
    return ok(present(await service.moveCard(actor, id(params, "boardId"), id(params, "cardId"), target)));
  };
}

/** 离线客户端的入口：改动带着 baseVersion，由服务层负责合并。 */
function submitOperation(service: BoardService) {
  return async ({ actor, params, body }: RequestContext): Promise<Reply> => {
    const input = asObject(body);
    const result = await service.submit(actor, id(params, "boardId"), {
      baseVersion: Number(input["baseVersion"]),
      change: parseChange(input["change"]),
      ...(input["opId"] === undefined ? {} : { opId: idField(input, "opId") }),
    });
    return submitted(result);
  };
}

function addWebhook(service: BoardService, store: BoardStore) {
  return async ({ actor, params, body }: RequestContext): Promise<Reply> => {
    const board = await service.getBoard(actor, id(params, "boardId"));
    assertCan(board, actor, "board.admin");
    const input = asObject(body);
    const url = URL.canParse(String(input["url"])) ? new URL(String(input["url"])) : null;
    if (url?.protocol !== "https:") throw new ValidationError("url must be an https URL", "url");
    const kinds = Array.isArray(input["kinds"]) ? (input["kinds"].map(String) as ChangeKind[]) : [];
    const hook = { id: `hook_${tinyid()}`, url: url.href, kinds, active: true };
    await store.saveHooks(board.id, [...(await store.loadHooks(board.id)), hook]);
    return created(hook);
  };
}

/** A board as clients see it: sorted lists instead of maps. */
function present(board: Board) {
  const { columns: _columns, cards: _cards, ...rest } = board;
  return {
    ...rest,
    columns: sortedColumns(board).map((column) => ({ ...column, cards: cardsInColumn(board, column.id) })),
  };
}

function submitted(result: SubmitResult): Reply {
  const { status, reason, board, operation } = result;
  return ok({ status, reason, version: board.version, operation });
}

function ok(body: unknown): Reply {
  return { status: 200, body };
}

function created(body: unknown): Reply {
  return { status: 201, body };
}

function id(params: Record<string, string>, name: string): string {
  return params[name] ?? "";
}

function anchor(value: unknown): string | null {
  return value === undefined || value === null ? null : idField({ afterId: value }, "afterId");
}
