// Finds where a body stops being JSON. JSON.parse gives the position of some errors only, in wording that changes with V8.

/** Characters at which a string ends, has an escape, or is invalid: everything below a space is a control character. */
const special = /["\\]|[^ -\uffff]/g;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const space = /[\t\n\r ]*/y;
const colon = /:/y;
const comma = /,/y;

/** Returns the offset of the first byte that is not UTF-8, or the length if all bytes are. */
export function faultInUtf8(bytes: Buffer): number {
  let at = 0;
  // Undecodable bytes become U+FFFD, but the text may also contain this character itself.
  for (const text of bytes.toString('utf8').split('\ufffd')) {
    at += Buffer.byteLength(text);
    if (bytes.toString('latin1', at, at + 3) !== '\xef\xbf\xbd') break;
    at += 3;
  }
  return at;
}

/**
 * Returns the offset of the first character that makes the text invalid, or the length if the text ends too early. Uses its own stack,
 * because the client chooses the nesting depth.
 */
export function faultInJson(text: string): number {
  let at = 0;
  let wanted: 'value' | 'first item' | 'name' | 'first name' | 'colon' | 'more' = 'value';
  /** The closing brackets of the objects and arrays around the current place. */
  const closing: string[] = [];

  do skip(space);
  while (skipWanted());
  return at;

  function skipWanted(): boolean {
    const next = text[at];
    switch (wanted) {
      case 'colon':
        wanted = 'value';
        return skip(colon);
      case 'name':
      case 'first name':
        if (wanted === 'first name' && next === '}') return close();
        wanted = 'colon';
        return skipString();
      case 'more':
        if (closing.length === 0) return false;
        if (next === closing.at(-1)) return close();
        wanted = closing.at(-1) === '}' ? 'name' : 'value';
        return skip(comma);
      default:
        if (wanted === 'first item' && next === ']') return close();
        if (next === '{') return open('}', 'first name');
        if (next === '[') return open(']', 'first item');
        wanted = 'more';
        return next === '"' ? skipString() : skip(scalar);
    }
  }

  function open(end: string, first: 'first name' | 'first item'): boolean {
    closing.push(end);
    wanted = first;
    at++;
    return true;
  }

  function close(): boolean {
    closing.pop();
    wanted = 'more';
    at++;
    return true;
  }

  function skip(pattern: RegExp): boolean {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  }

  function skipString(): boolean {
    if (text[at] !== '"') return false;
    at++;
    for (;;) {
      special.lastIndex = at;
      at = special.exec(text)?.index ?? text.length;
      if (text[at] === '"') {
        at++;
        return true;
      }
      if (!skip(escaped)) return false;
    }
  }
}
