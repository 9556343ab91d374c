/**
 * 按键串行执行的异步锁。
 *
 * 同一个看板的写操作必须一个接一个地执行，否则两个请求会读到同一个版本号；
 * 不同看板之间互不阻塞。没有等待者的键会被删除，不会无限增长。
 */
export class KeyedLock {
  private readonly tails = new Map<string, Promise<unknown>>();

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const previous = this.tails.get(key) ?? Promise.resolve();
    // A failed task must not block the ones queued behind it.
    const current = previous.catch(() => undefined).then(task);
    this.tails.set(key, current);
    try {
      return await current;
    } finally {
      if (this.tails.get(key) === current) this.tails.delete(key);
    }
  }
}
