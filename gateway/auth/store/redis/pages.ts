// Reads all records of the Redis key store page by page. The lists only grow at the end, so that positions stay valid while other clients
// write.

/** Collecting a page blocks Redis for about a millisecond. */
const PAGE = 500;

/** @param from the position of the first record */
export async function* inRedisPages<T>(
  read: (first: number, last: number) => Promise<unknown>,
  recordsOf: (columns: unknown) => readonly T[],
  from = 0,
): AsyncGenerator<readonly T[]> {
  for (let first = from; ; first += PAGE) {
    const page = recordsOf(await read(first, first + PAGE - 1));
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
  }
}

export async function allOf<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}
