export * from "./board.js";
export * from "./changes.js";
export * from "./types.js";
export { checkChange } from "./rules.js";
export { isRank, needsRebalance, rankBetween, spreadRanks } from "./rank.js";
export { parseChange } from "./validate.js";
