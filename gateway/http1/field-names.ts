// The names of fields in lower case. Both sides of a connection use few spellings, and a name costs less to find than to make: V8 makes a
// new text each time, and looks that up among all names of properties.

const lowerCases = new Map<string, string>();
/** The other side chooses the spellings. */
const SPELLINGS_MAX = 500;
const SPELLING_CHARACTERS_MAX = 40;

/** @param spelling a token, in Latin-1 */
export function fieldNameOf(spelling: string): string {
  const known = lowerCases.get(spelling);
  if (known !== undefined) return known;
  const name = spelling.toLowerCase();
  if (lowerCases.size < SPELLINGS_MAX && spelling.length <= SPELLING_CHARACTERS_MAX) {
    // A slice keeps the whole head in memory.
    const key = Buffer.from(spelling, 'latin1').toString('latin1');
    lowerCases.set(key, key === name ? key : name);
  }
  return name;
}
