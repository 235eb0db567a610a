// The names of fields in lower case. Both sides of a connection use few spellings in few orders, and a name costs less to find than to
// make: V8 makes a new text each time, and looks that up among all names of properties.

export class FieldSpelling {
  readonly spelling: string;
  readonly lowerCase: string;
  /** The spelling, with its colon. */
  readonly start: string;
  /** The name in the line after the latest line with this name. */
  following: FieldSpelling | undefined = undefined;

  constructor(spelling: string) {
    // A slice keeps the whole head in memory.
    this.start = Buffer.from(`${spelling}:`, 'latin1').toString('latin1');
    this.spelling = this.start.slice(0, -1);
    this.lowerCase = this.spelling.toLowerCase();
  }
}

const known = new Map<string, FieldSpelling>();
/** The other side chooses the spellings. */
const SPELLINGS_MAX = 500;
const SPELLING_CHARACTERS_MAX = 40;

/**
 * The name of the field line that begins at `at`.
 *
 * @param text Latin-1, in which a token and a colon are there
 * @param before the name in the line before; for the first line, a name that the caller keeps for that
 */
export function fieldNameAt(text: string, at: number, before: FieldSpelling): FieldSpelling {
  const guess = before.following;
  if (guess !== undefined && text.startsWith(guess.start, at)) return guess;
  const spelling = text.slice(at, text.indexOf(':', at));
  const found = known.get(spelling);
  if (found === undefined) return learn(spelling);
  // Kept names only: links between all others would have no bound.
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
