// Finds the names of fields in lower case. Clients and upstreams write the same few names in the same few orders. The names are therefore
// cached, because a cached name takes less time as a key than a new string.

export class FieldSpelling {
  readonly spelling: string;
  readonly lowerCase: string;
  /** The spelling, with its colon. */
  readonly start: string;
  /** The name that followed this name last time, which is the first guess for the next line. */
  following: FieldSpelling | undefined = undefined;

  constructor(spelling: string) {
    // A copy of the name, because a slice would keep the whole head in memory.
    this.start = Buffer.from(`${spelling}:`, 'latin1').toString('latin1');
    this.spelling = this.start.slice(0, -1);
    this.lowerCase = this.spelling.toLowerCase();
  }
}

const known = new Map<string, FieldSpelling>();
/** Bounds of the kept names, because clients and upstreams choose the spellings. */
const SPELLINGS_MAX = 500;
const SPELLING_CHARACTERS_MAX = 40;

/**
 * Returns the name of the field line that begins at `at`.
 *
 * @param text Latin-1, in which a token and a colon follow
 * @param before the name in the previous line. For the first field line, it is the object that stands for the start line
 */
export function fieldNameAt(text: string, at: number, before: FieldSpelling): FieldSpelling {
  const guess = before.following;
  if (guess !== undefined && text.startsWith(guess.start, at)) return guess;
  const spelling = text.slice(at, text.indexOf(':', at));
  const found = known.get(spelling);
  if (found === undefined) return learn(spelling);
  // `following` refers only to names in `known`, whose number is bounded, so links do not keep other names in memory.
  before.following = found;
  return found;
}

function learn(spelling: string): FieldSpelling {
  const name = new FieldSpelling(spelling);
  if (known.size < SPELLINGS_MAX && spelling.length <= SPELLING_CHARACTERS_MAX) {
    known.set(name.spelling, name);
  }
  return name;
}
