// What is made once for each name and then only looked up.

/** @param make called once per name; names are few and bounded */
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
