// Reads a part of a list in pages, where few records may match.

/** Maximum number of records that one request reads, so that a search without a match does not read a whole store. */
const READ_MAX = 10_000;

export interface PartOfList<Item> {
  readonly items: readonly Item[];
  /** The id of the last record of the part; undefined if no record follows. */
  readonly last: string | undefined;
}

/** Collects at most `most` records that match. A part with fewer records may still be followed by another part. */
export async function partOfPages<Item extends { readonly id: string }>(
  pages: AsyncIterable<readonly Item[]>,
  isWanted: (item: Item) => boolean,
  most: number,
): Promise<PartOfList<Item>> {
  const items: Item[] = [];
  let read = 0;
  for await (const page of pages) {
    for (const item of page) {
      if (!isWanted(item)) continue;
      if (items.length === most) return { items, last: items.at(-1)?.id };
      items.push(item);
    }
    read += page.length;
    if (read >= READ_MAX) return { items, last: page.at(-1)?.id };
  }
  return { items, last: undefined };
}
