/**
 * A key with a typing mistake in its last character. The mistake is one in
 * each key: a fixed character is, in one key of 62, the one that stood there.
 */
export function mistyped(key: string): string {
  return `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
}
