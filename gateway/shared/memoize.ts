// Caches a value per name.

/** Caches the results of a function. @param make called once for each name. The number of names must be small and bounded */
export function memoize<Name extends string | number, T>(make: (name: Name) => T): (name: Name) => T {
  const kept = new Map<Name, T>();
  return (name) => {
    let made = kept.get(name);
    if (made === undefined) {
      made = make(name);
      kept.set(name, made);
    }
    return made;
  };
}
