/**
 * 分数排序（fractional ranks）。
 *
 * A rank is the fractional part of a base-36 number in (0, 1), written without
 * trailing zeros, so plain string comparison is numeric comparison. 在任意两张卡片
 * 之间总能再插入一个新值，因此移动一张卡片只改它自己，不必给其他卡片重新编号。
 */
import { ValidationError } from "../errors.js";

const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
const BASE = ALPHABET.length;

/** 超过这个长度就值得对整列重新分布，见 needsRebalance。 */
export const MAX_RANK_LENGTH = 16;

export interface Ranked {
  id: string;
  rank: string;
}

export function isRank(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-z]*[1-9a-z]$/.test(value);
}

/** Total order: rank first, id as a tie break for data from older versions. */
export function compareRanked(a: Ranked, b: Ranked): number {
  if (a.rank !== b.rank) return a.rank < b.rank ? -1 : 1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/**
 * Computes a rank strictly between two neighbours; null stands for an open end.
 *
 * Both bounds are walked digit by digit. As soon as a digit fits between them we
 * are done; with a gap of one we take the lower digit, after which the upper
 * bound can no longer be reached and every following digit is free.
 */
export function rankBetween(before: string | null, after: string | null): string {
  const low = before ?? "";
  if (after !== null && low >= after) {
    throw new ValidationError(`rank ${low} is not below ${after}`, "rank");
  }
  let upper = after;
  let out = "";
  for (let i = 0; ; i++) {
    const lo = digitAt(low, i);
    const hi = upper === null ? BASE : digitAt(upper, i);
    if (hi - lo > 1) return out + ALPHABET.charAt(pickDigit(lo, hi, before !== null && after === null));
    out += ALPHABET.charAt(lo);
    if (hi !== lo) upper = null;
  }
}

/** Appending steps by one digit; halving would add a digit every sixth card. */
function pickDigit(lo: number, hi: number, appending: boolean): number {
  return appending ? lo + 1 : lo + Math.floor((hi - lo) / 2);
}

/** Evenly spread ranks for `count` items, with at least one spare digit of room. */
export function spreadRanks(count: number): string[] {
  let width = 1;
  while (BASE ** width < (count + 1) * BASE) width++;
  const step = BASE ** width / (count + 1);
  return Array.from({ length: count }, (_, i) => {
    const digits = Math.floor((i + 1) * step).toString(BASE);
    return digits.padStart(width, "0").replace(/0+$/, "");
  });
}

export function needsRebalance(items: readonly Ranked[]): boolean {
  return items.some((item) => item.rank.length > MAX_RANK_LENGTH);
}

/**
 * 把一个按旧 rank 计算出来的位置换算到重新分布之后的位置：
 * 找到它在旧顺序里的左右邻居，再取这两个邻居新 rank 的中间值。
 */
export function translateRank(rank: string, moved: Iterable<{ from: string; to: string }>): string {
  let below: { from: string; to: string } | null = null;
  let above: { from: string; to: string } | null = null;
  for (const pair of moved) {
    if (pair.from <= rank && (below === null || pair.from > below.from)) below = pair;
    if (pair.from > rank && (above === null || pair.from < above.from)) above = pair;
  }
  return rankBetween(below?.to ?? null, above?.to ?? null);
}

function digitAt(rank: string, index: number): number {
  return index < rank.length ? ALPHABET.indexOf(rank.charAt(index)) : 0;
}
