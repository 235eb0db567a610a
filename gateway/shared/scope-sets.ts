// Sets of scopes. Most callers have one of a few: they share it, so that it stays in the processor's cache from one request to the next.

/** Beyond this number, sets are not shared. */
const SHARED_MAX = 1000;

const shared = new Map<string, ReadonlySet<string>>();

/** @param scopes without spaces (RFC 6749 section 3.3) */
export function scopeSetOf(scopes: readonly string[]): ReadonlySet<string> {
  const name = scopes.join(' ');
  const known = shared.get(name);
  if (known !== undefined) return known;
  const made = new Set(scopes);
  if (shared.size < SHARED_MAX) shared.set(name, made);
  return made;
}
