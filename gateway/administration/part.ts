// A part of a list that is read in pages, where few records may match.

/** Most records that one request reads, so that a search without a match does not read a whole store. */
const READ_MAX = 10_000;

export interface PartOfList<Item> {
  readonly items: readonly Item[];
  /** Id of the record that the part ends with; undefined if nothing follows. */
  readonly last: string | undefined;
}

/** Collects at most `most` records that match. The part may have fewer and yet not be the last one. */
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
