// Caches a value per name.

/** @param make called once per name; the names must be few and bounded */
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
