// Makes the answers with lists, which contain records, whether there is a next page, and its cursor.

import type { PartOfList } from '../part.ts';
import type { Answer, Call } from './call.ts';

interface PageOf<Item> {
  /** The items of the page, and the first item of the next page if there is one. */
  readonly found: readonly Item[];
  /** Returns the position of a record in the list. */
  positionOf(item: Item): string;
  toJson(item: Item): object;
  /** Other members of the envelope. */
  readonly more?: object;
}

export function pageOf<Item>({ limit, cursors }: Pick<Call, 'limit' | 'cursors'>, page: PageOf<Item>): Answer {
  const items = page.found.slice(0, limit);
  const last = page.found.length > limit ? items.at(-1) : undefined;
  const cursor = last === undefined ? null : cursors.cursorAfter(page.positionOf(last));
  return { body: { data: items.map(page.toJson), ...page.more, cursor, has_more: cursor !== null } };
}

/** Returns the answer for a part of a list, if the reader of the list knows where the part ends. */
export function partAnswer<Item>(
  { cursors }: Pick<Call, 'cursors'>,
  { items, last }: PartOfList<Item>,
  toJson: (item: Item) => object,
): Answer {
  const cursor = last === undefined ? null : cursors.cursorAfter(last);
  return { body: { data: items.map(toJson), cursor, has_more: cursor !== null } };
}
