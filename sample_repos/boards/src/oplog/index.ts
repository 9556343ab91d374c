export { OperationLog } from "./log.js";
export { rebase } from "./merge.js";
export type { MergeOutcome } from "./merge.js";
export { findUndoable, invert, supersededBy } from "./undo.js";
