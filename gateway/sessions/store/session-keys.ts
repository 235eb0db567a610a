// The secrets entry `session_keys`, which encrypts the tokens of sessions: one secret on each line. The first secret encrypts, and all
// secrets decrypt.

/** Name of the entry. */
export const SESSION_KEYS = 'session_keys';
export const SESSION_KEYS_PURPOSE = 'gateway session tokens';
const LENGTH_MIN = 16;

/** @param text the entry */
export function sessionKeysOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Returns the reason why the entry cannot be used, as a sentence without the value; undefined for a usable entry. */
export function sessionKeysProblem(text: string): string | undefined {
  const lines = sessionKeysOf(text);
  if (lines.length === 0) return 'it is empty.';
  const short = lines.findIndex((line) => line.length < LENGTH_MIN);
  return short < 0 ? undefined : `key ${short + 1} needs at least ${LENGTH_MIN} characters.`;
}
