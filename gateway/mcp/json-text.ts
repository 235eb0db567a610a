// Finds the text of a member in a JSON text, so that a value is sent on in the client's own spelling. The time is linear.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Returns the text of the value at a path of member names; undefined if there is no value. `json` must be valid, without duplicate names.
 */
export function memberTextAt(json: string, path: readonly string[]): string | undefined {
  let at = pastSpace(json, 0);
  for (const name of path) {
    const found = memberAt(json, at, name);
    if (found === undefined) return undefined;
    at = found;
  }
  return json.slice(at, pastValue(json, at));
}

/** Returns where the value of a member of the object that begins at `from` begins. */
function memberAt(json: string, from: number, name: string): number | undefined {
  if (json[from] !== '{') return undefined;
  let at = pastSpace(json, from + 1);
  while (json.charCodeAt(at) === QUOTE) {
    const end = pastString(json, at);
    const isIt = JSON.parse(json.slice(at, end)) === name;
    // Past the colon.
    at = pastSpace(json, pastSpace(json, end) + 1);
    if (isIt) return at;
    at = pastSpace(json, pastValue(json, at));
    if (json[at] === ',') at = pastSpace(json, at + 1);
  }
  return undefined;
}

function pastValue(json: string, from: number): number {
  let depth = 0;
  let at = from;
  do {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = pastString(json, at);
    else {
      // { and [ open, } and ] close; they differ in bit 1 of the code.
      if (code === 0x7b || code === 0x5b) depth += 1;
      else if (code === 0x7d || code === 0x5d) depth -= 1;
      at += 1;
    }
    if (depth === 0 && isEnd(json, from, at)) return at;
  } while (at < json.length);
  return at;
}

/** Whether a value that began at `from` is complete. A scalar ends before a comma, a bracket or space. */
function isEnd(json: string, from: number, at: number): boolean {
  const first = json.charCodeAt(from);
  if (first === QUOTE || first === 0x7b || first === 0x5b) return true;
  return at >= json.length || /[\s,\]}]/.test(json[at] as string);
}

function pastString(json: string, from: number): number {
  let at = from + 1;
  while (json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

function pastSpace(json: string, from: number): number {
  let at = from;
  for (let code = json.charCodeAt(at); code === 32 || (code >= 9 && code <= 13); code = json.charCodeAt(at)) at += 1;
  return at;
}
