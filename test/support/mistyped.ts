/**
 * Returns a key with a typing mistake in its last character. The new character differs in each key: a fixed one would be correct in one of
 * 62 keys.
 */
export function mistyped(key: string): string {
  return `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
}
