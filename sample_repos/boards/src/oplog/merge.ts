/**
 * 操作日志的冲突合并。
 *
 * 客户端基于某个版本（baseVersion）提交改动。如果服务器已经前进，就把这个改动
 * 依次变基（rebase）到期间发生的每个并发操作之后，而不是一律返回 409。每一步有
 * 三种结果：保留（可能被改写）、丢弃（意图已经失去对象）、抛出 ConflictError
 * （必须由人来决定）。规则的完整说明见 docs/merge.md。
 *
 * The functions are pure: same log, same base, same change, same outcome.
 */
import { ConflictError } from "../errors.js";
import { allCardsInColumn } from "../model/board.js";
import type { CardEdit, CardFields, CardMove, Change, ColumnDelete, Operation } from "../model/changes.js";
import { rankBetween, translateRank } from "../model/rank.js";
import type { Ranked } from "../model/rank.js";
import type { Board } from "../model/types.js";

export type DropReason = "card_deleted" | "card_archived" | "column_deleted" | "moved_elsewhere" | "nothing_left";

type Dropped = { status: "drop"; reason: DropReason };
type Step = { status: "apply"; change: Change } | Dropped;

export type MergeOutcome = { status: "apply"; change: Change; rebased: boolean } | Dropped;

/**
 * Rebases `incoming` over the operations its author had not seen yet. `board` is
 * the state after all of them and is only used to settle the final rank.
 */
export function rebase(incoming: Change, concurrent: readonly Operation[], board: Board): MergeOutcome {
  let change = incoming;
  for (const op of concurrent) {
    const step = transform(change, op.change);
    if (step.status === "drop") return step;
    change = step.change;
  }
  const settled = settleRank(change, board);
  return { status: "apply", change: settled, rebased: settled !== incoming };
}

/** One step of the rebase: `theirs` happened first, what is left of `mine`? */
function transform(mine: Change, theirs: Change): Step {
  const lost = lostTarget(mine, theirs);
  if (lost) return lost;
  switch (mine.kind) {
    case "card.create":
      return keep(theirs.kind === "column.rebalance" ? reanchor(mine, theirs) : mine);
    case "card.move":
      return mergeCardMove(mine, theirs);
    case "card.edit":
      return mergeCardEdit(mine, theirs);
    case "column.delete":
      return mergeColumnDelete(mine, theirs);
    default:
      return keep(mine);
  }
}

/**
 * 合并两次并发的卡片移动。
 *
 * 同一张卡片被两个人移动时，跨列移动优先于列内排序：对方已经把卡片拖到别的列，
 * 而我们只是想调整顺序，那么这次排序失去意义，直接丢弃。其余情况后到者胜。
 * Moves of different cards never exclude each other; if they picked the same
 * gap, settleRank puts them next to each other.
 */
function mergeCardMove(mine: CardMove, theirs: Change): Step {
  if (theirs.kind === "column.rebalance") return keep(reanchor(mine, theirs));
  if (theirs.kind === "card.archive" && theirs.archived && theirs.cardId === mine.cardId) {
    return drop("card_archived");
  }
  if (theirs.kind !== "card.move" || theirs.cardId !== mine.cardId) return keep(mine);
  const onlyReorder = mine.fromColumnId === mine.columnId;
  if (onlyReorder && theirs.columnId !== mine.columnId) return drop("moved_elsewhere");
  return keep({ ...mine, fromColumnId: theirs.columnId });
}

/**
 * 按字段合并编辑：双方改了不同字段时互不影响；改了同一个短字段时后到者胜。
 * 描述（description）是长文本，静默覆盖会丢失别人的内容，所以要求人工处理。
 */
function mergeCardEdit(mine: CardEdit, theirs: Change): Step {
  if (theirs.kind !== "card.edit" || theirs.cardId !== mine.cardId) return keep(mine);
  const fields: CardFields = { ...mine.fields };
  if (fields.description !== undefined && theirs.fields.description !== undefined) {
    if (fields.description !== theirs.fields.description) {
      throw new ConflictError("edit_conflict", "the description was changed by somebody else", {
        cardId: mine.cardId,
        theirs: theirs.fields.description,
      });
    }
    delete fields.description;
  }
  const labelsLeft = (mine.addLabels?.length ?? 0) + (mine.removeLabels?.length ?? 0);
  if (Object.keys(fields).length === 0 && labelsLeft === 0) return drop("nothing_left");
  return keep({ ...mine, fields });
}

/** A column must not disappear under a card that was just put into it. */
function mergeColumnDelete(mine: ColumnDelete, theirs: Change): Step {
  const refilled =
    (theirs.kind === "card.move" || theirs.kind === "card.create") && theirs.columnId === mine.columnId;
  if (refilled) {
    throw new ConflictError("column_not_empty", "a card was put into this column meanwhile", {
      columnId: mine.columnId,
      cardId: theirs.cardId,
    });
  }
  return keep(mine);
}

/**
 * 改动的目标（卡片或列）已经被对方删除时的处理。
 * 移动或新建到已删除的列里没有安全的默认位置，只能报冲突；其余改动丢弃即可。
 */
function lostTarget(mine: Change, theirs: Change): Dropped | null {
  if (theirs.kind === "card.delete" && "cardId" in mine && mine.cardId === theirs.cardId) {
    return drop("card_deleted");
  }
  if (theirs.kind !== "column.delete" || !("columnId" in mine) || mine.columnId !== theirs.columnId) return null;
  if (mine.kind === "card.move" || mine.kind === "card.create") {
    throw new ConflictError("column_deleted", "the target column was deleted meanwhile", {
      columnId: mine.columnId,
    });
  }
  return drop("column_deleted");
}

/** 对方重新分布了整列的 rank：把我们的位置换算成新的 rank。 */
function reanchor<T extends { columnId: string; rank: string }>(
  mine: T,
  theirs: { columnId: string; ranks: Record<string, { from: string; to: string }> },
): T {
  if (mine.columnId !== theirs.columnId) return mine;
  return { ...mine, rank: translateRank(mine.rank, Object.values(theirs.ranks)) };
}

/**
 * Two offline clients may pick the same rank for the same gap. The newcomer is
 * moved to one side of the occupant; which side depends on the ids only, so all
 * replicas that merge the same pair end up with the same order.
 */
function settleRank(change: Change, board: Board): Change {
  switch (change.kind) {
    case "card.create":
    case "card.move": {
      const rank = freeRank(allCardsInColumn(board, change.columnId), change.cardId, change.rank);
      return rank === change.rank ? change : { ...change, rank };
    }
    default:
      return change;
  }
}

function freeRank(siblings: readonly Ranked[], id: string, wanted: string): string {
  const others = siblings.filter((item) => item.id !== id);
  const taken = others.findIndex((item) => item.rank === wanted);
  if (taken < 0) return wanted;
  const occupant = others[taken] as Ranked;
  return id > occupant.id
    ? rankBetween(wanted, others[taken + 1]?.rank ?? null)
    : rankBetween(others[taken - 1]?.rank ?? null, wanted);
}

function keep(change: Change): Step {
  return { status: "apply", change };
}

function drop(reason: DropReason): Dropped {
  return { status: "drop", reason };
}
