/**
 * 权限检查。
 *
 * 所有写操作都必须先经过 assertCan：服务层按改动的种类得出需要的动作（action），
 * 再查角色表。角色表是唯一的权限来源，不要在别处写 role === "owner" 之类的判断。
 */
import { ForbiddenError, NotFoundError } from "../errors.js";
import type { ChangeKind } from "../model/changes.js";
import type { Board, Role } from "../model/types.js";

export type Action = "board.read" | "card.write" | "column.write" | "board.admin";

/** 每个角色允许的动作；新增动作时必须逐个角色考虑。 */
const GRANTS: Record<Role, ReadonlySet<Action>> = {
  viewer: new Set<Action>(["board.read"]),
  editor: new Set<Action>(["board.read", "card.write", "column.write"]),
  owner: new Set<Action>(["board.read", "card.write", "column.write", "board.admin"]),
};

export function roleOf(board: Board, actor: string): Role | null {
  return Object.hasOwn(board.members, actor) ? (board.members[actor] ?? null) : null;
}

/** 判断 actor 能否在看板上执行 action，不抛异常，适合用来过滤列表。 */
export function can(board: Board, actor: string, action: Action): boolean {
  const role = roleOf(board, actor);
  return role !== null && GRANTS[role].has(action);
}

/**
 * 权限不足时抛出异常。对看不到看板的人一律报"不存在"，避免泄露看板 id。
 */
export function assertCan(board: Board, actor: string, action: Action): void {
  if (can(board, actor, action)) return;
  if (!can(board, actor, "board.read")) throw new NotFoundError("board", board.id);
  throw new ForbiddenError(actor, action);
}

/** Which action a change needs; the switch is exhaustive on purpose. */
export function actionFor(kind: ChangeKind): Action {
  switch (kind) {
    case "card.create":
    case "card.move":
    case "card.edit":
    case "card.archive":
    case "card.delete":
    case "card.restore":
    case "column.rebalance":
      return "card.write";
    case "column.create":
    case "column.delete":
      return "column.write";
    case "member.set":
      return "board.admin";
  }
}
