/**
 * 文件存储。
 *
 * 每个看板一个目录：
 *   board.json   最近一次保存的快照
 *   ops.jsonl    操作日志，每行一个 JSON，只追加
 *   hooks.json   webhook 订阅
 */
import { appendFile, mkdir, readFile, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ValidationError } from "../errors.js";
import type { Operation } from "../model/changes.js";
import type { Board } from "../model/types.js";
import type { Webhook } from "../webhooks/types.js";
import { BaseStore } from "./adapter.js";

export class FileStore extends BaseStore {
  constructor(private readonly root: string) {
    super();
  }

  async loadBoard(boardId: string): Promise<Board | null> {
    return readJson<Board>(this.pathOf(boardId, "board.json"));
  }

  async saveBoard(board: Board): Promise<void> {
    await this.write(board.id, "board.json", JSON.stringify(board, null, 2));
  }

  async appendOperation(op: Operation): Promise<void> {
    await mkdir(join(this.root, safeName(op.boardId)), { recursive: true });
    // 换行写在前面：上次崩溃留下的半行不会和新的一行粘在一起。
    await appendFile(this.pathOf(op.boardId, "ops.jsonl"), `\n${JSON.stringify(op)}`);
  }

  async readOperations(boardId: string, afterVersion: number): Promise<Operation[]> {
    const text = await readText(this.pathOf(boardId, "ops.jsonl"));
    return parseLines(text ?? "").filter((op) => op.version > afterVersion);
  }

  async loadHooks(boardId: string): Promise<Webhook[]> {
    return (await readJson<Webhook[]>(this.pathOf(boardId, "hooks.json"))) ?? [];
  }

  async saveHooks(boardId: string, hooks: Webhook[]): Promise<void> {
    await this.write(boardId, "hooks.json", JSON.stringify(hooks, null, 2));
  }

  protected async boardIds(): Promise<string[]> {
    try {
      const entries = await readdir(this.root, { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** 先写临时文件再改名：读者要么看到旧内容，要么看到新内容，不会读到一半。 */
  private async write(boardId: string, name: string, text: string): Promise<void> {
    const target = this.pathOf(boardId, name);
    await mkdir(join(this.root, safeName(boardId)), { recursive: true });
    const temporary = `${target}.${process.pid}.tmp`;
    await writeFile(temporary, text);
    await rename(temporary, target);
  }

  private pathOf(boardId: string, name: string): string {
    return join(this.root, safeName(boardId), name);
  }
}

/** Ids come from URLs; refuse anything that could leave the root directory. */
function safeName(boardId: string): string {
  if (!/^[\w-]{1,64}$/.test(boardId)) throw new ValidationError("malformed board id", "boardId");
  return boardId;
}

/**
 * 解析操作日志。进程在写入途中被杀掉会留下半行：跳过它即可，因为对应的请求还没有
 * 得到成功的回复。如果丢的是别的行，版本号不再连续，OperationLog 会发现。
 */
function parseLines(text: string): Operation[] {
  return text.split("\n").flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as Operation];
    } catch {
      return [];
    }
  });
}

async function readJson<T>(path: string): Promise<T | null> {
  const text = await readText(path);
  return text === null ? null : (JSON.parse(text) as T);
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
