// Finds the boundaries between the items of a stream: the empty line after an event (HTML standard, section 9.2.6), or the end of a line.

import type { StreamKind } from '../../exchange/findings.ts';

/** Two line ends in a row. Each is LF, CR or CRLF. */
const EVENT_END = /\n\n|\r\r\n?|\n\r\n?/;
const LINE_END = /\n/;
/** Bytes of the last chunk that are kept, because the end of an item may lie partly in the next chunk. */
const TAIL_BYTES = 3;
const NOTHING = Buffer.alloc(0);

export interface Boundaries {
  /** Call it with every byte that is sent, in order. */
  see(chunk: Buffer): void;
  /** Returns true if the last byte ended an item, or if no byte was seen yet. */
  isBetween(): boolean;
  /** Returns true if the last byte ended a line, or if no byte was seen yet. */
  isAtLineEnd(): boolean;
  /** Returns the positions in the next chunk after which an item ends. */
  endsIn(chunk: Buffer): number[];
}

export function createBoundaries(kind: StreamKind): Boundaries {
  const end = kind === 'events' ? EVENT_END : LINE_END;
  const everyEnd = new RegExp(end, 'g');
  const atEnd = new RegExp(`(?:${end.source})$`);
  let tail: Buffer = NOTHING;

  return {
    see(chunk) {
      if (chunk.length >= TAIL_BYTES) tail = Buffer.from(chunk.subarray(-TAIL_BYTES));
      else tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
    },
    isBetween: () => tail.length === 0 || atEnd.test(tail.toString('latin1')),
    isAtLineEnd: () => tail.length === 0 || /[\r\n]$/.test(tail.toString('latin1')),
    endsIn(chunk) {
      const text = tail.toString('latin1') + chunk.toString('latin1');
      const ends: number[] = [];
      for (const { 0: found, index } of text.matchAll(everyEnd)) {
        const at = index + found.length - tail.length;
        if (at > 0) ends.push(at);
      }
      return ends;
    },
  };
}
