// Caches a value per name.

/**
 * Caches the results of a function.
 *
 * @param make called once for each name
 * @param max the largest number of results that are kept; one more replaces them all. If it is undefined, the number of names must be small
 * and bounded
 */
export function memoize<Name extends string | number, T>(
  make: (name: Name) => T,
  max = Number.POSITIVE_INFINITY,
): (name: Name) => T {
  const kept = new Map<Name, T>();
  return (name) => {
    let made = kept.get(name);
    if (made === undefined) {
      made = make(name);
      if (kept.size >= max) kept.clear();
      kept.set(name, made);
    }
    return made;
  };
}
