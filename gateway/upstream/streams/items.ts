// Splits a stream into its items, and reads an item as the value that the `itemSchema` of a contract describes (OpenAPI 3.2).

import type { StreamKind } from '../../exchange/findings.ts';
import { type Boundaries, createBoundaries } from './boundaries.ts';

/** Longer items are not checked. */
const ITEM_BYTES_MAX = 1_048_576;

const RECORD_SEPARATOR = '\u001e';

/** The bytes of one item, its end included. They are empty if the item is too long to be checked. */
export interface Item {
  readonly bytes: Buffer;
  readonly isTooLong: boolean;
}

export interface ItemSplitter {
  /** Whether the current item is already too long to be checked. */
  isTooLong(): boolean;
  /** Takes the next chunk. Returns the items that it completes. */
  feed(chunk: Buffer): Item[];
  /** Returns the bytes after the last complete item. */
  rest(): Item;
}

export function createItemSplitter(kind: StreamKind): ItemSplitter {
  const boundaries: Boundaries = createBoundaries(kind);
  let pieces: Buffer[] = [];
  let size = 0;

  function take(piece: Buffer): void {
    size += piece.length;
    pieces.push(piece);
  }

  function takeItem(): Item {
    const item = { bytes: Buffer.concat(pieces), isTooLong: size > ITEM_BYTES_MAX };
    pieces = [];
    size = 0;
    return item;
  }

  return {
    isTooLong: () => size > ITEM_BYTES_MAX,
    feed(chunk) {
      const items: Item[] = [];
      let from = 0;
      for (const end of boundaries.endsIn(chunk)) {
        take(chunk.subarray(from, end));
        items.push(takeItem());
        from = end;
      }
      if (from < chunk.length) take(chunk.subarray(from));
      boundaries.see(chunk);
      // An item that is too long will not be checked, so its bytes are dropped and only its end is searched for.
      if (size > ITEM_BYTES_MAX) pieces = [];
      return items;
    },
    rest: takeItem,
  };
}

/** Returns the value of an item; undefined for a comment or an empty line. Throws SyntaxError if a line is not JSON. */
export function itemValue(kind: StreamKind, item: Buffer): unknown {
  const text = item.toString('utf8');
  return kind === 'events' ? eventOf(text) : lineOf(text);
}

/** Reads a line. JSON text sequences put a record separator before each text (RFC 7464). */
function lineOf(text: string): unknown {
  const line = (text.startsWith(RECORD_SEPARATOR) ? text.slice(1) : text).trim();
  return line === '' ? undefined : JSON.parse(line);
}

/** Reads an event (HTML standard, section 9.2.6). Its fields become members, as in OpenAPI 3.2 section 4.14.4. */
function eventOf(text: string): Readonly<Record<string, unknown>> | undefined {
  const event: Record<string, unknown> = {};
  const data: string[] = [];
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)) {
    if (line === '' || line.startsWith(':')) continue;
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (name === 'data') data.push(value);
    else if (name === 'retry') event.retry = /^\d+$/.test(value) ? Number(value) : value;
    else if (name === 'event' || name === 'id') event[name] = value;
  }
  if (data.length > 0) event.data = data.join('\n');
  return Object.keys(event).length === 0 ? undefined : event;
}
