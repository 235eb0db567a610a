// Seals the place where a page ended into an opaque cursor and opens it again. Throws invalid_cursor for anything that
// was not sealed here for the same list: another organization, mode, resource, filter or sort, or a forgery.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { SandboxRefusal } from './refusals.ts';

/** The last record of a page: the values that the list is sorted by, and the identifier that breaks ties. */
export interface CursorPosition {
  readonly value: string | number | null;
  readonly id: string;
}

export interface Cursors {
  /** `list` names everything that the cursor is bound to. The same position has the same cursor every time. */
  seal(list: string, position: CursorPosition): string;
  open(list: string, cursor: string): CursorPosition;
}

const TAG_BYTES = 16;

export function createCursors(secret: string): Cursors {
  function tagOf(list: string, payload: Buffer): Buffer {
    // The length keeps the two parts apart for any content.
    const hmac = createHmac('sha256', secret)
      .update(`${Buffer.byteLength(list)}:${list}`)
      .update(payload);
    return hmac.digest().subarray(0, TAG_BYTES);
  }

  return {
    seal(list, position) {
      const payload = encode(position);
      return Buffer.concat([tagOf(list, payload), payload]).toString('base64url');
    },
    open(list, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      const [tag, payload] = [bytes.subarray(0, TAG_BYTES), bytes.subarray(TAG_BYTES)];
      // Decoding skips characters that are no base64url, so only the exact spelling counts as this cursor.
      const exact = tag.length === TAG_BYTES && bytes.toString('base64url') === cursor;
      if (!exact || !timingSafeEqual(tag, tagOf(list, payload)))
        throw new SandboxRefusal('invalid_cursor', { param: 'cursor' });
      return decode(payload);
    },
  };
}

// `t`ext, `i`nteger or `n`ull, the identifier, a colon, the value. JSON would take up to six times the room for a text,
// and the contract bounds a cursor to 1,024 characters.
function encode({ value, id }: CursorPosition): Buffer {
  const type = value === null ? 'n' : typeof value === 'number' ? 'i' : 't';
  return Buffer.from(`${type}${id}:${value ?? ''}`);
}

function decode(payload: Buffer): CursorPosition {
  const text = payload.toString();
  const colon = text.indexOf(':');
  const [type, id, value] = [text[0], text.slice(1, colon), text.slice(colon + 1)];
  return { id, value: type === 'n' ? null : type === 'i' ? Number(value) : value };
}
