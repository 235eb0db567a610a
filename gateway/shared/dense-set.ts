// A set with constant-time add and remove, for items in flight that are listed now and then.

/** Handle of one item, for removing it. */
export interface DenseSetEntry<T> {
  readonly item: T;
  /** Index in the array; -1 after removal. */
  at: number;
}

interface DenseSet<T> {
  add(item: T): DenseSetEntry<T>;
  /** Returns false if the item was removed before. */
  remove(entry: DenseSetEntry<T>): boolean;
  size(): number;
  /** Returns a copy of the items, in no particular order. */
  all(): T[];
}

/**
 * Creates a set that causes less garbage collection than `Set`. With steady additions and deletions, a `Set` replaces its table now and
 * then, and the old table refers to the new one. When one table is in old space, all later tables and their contents survive until the next
 * full collection. Of every 50 MB that requests allocated, 4 MB moved into old space. This cost a sixth of their CPU (V8 13.6, measured
 * with `--trace-gc-nvp`).
 */
export function createDenseSet<T>(): DenseSet<T> {
  const entries: DenseSetEntry<T>[] = [];
  return {
    add(item) {
      const entry = { item, at: entries.length };
      entries.push(entry);
      return entry;
    },
    remove(entry) {
      const { at } = entry;
      if (at === -1) return false;
      entry.at = -1;
      const last = entries.pop() as DenseSetEntry<T>;
      if (last === entry) return true;
      last.at = at;
      entries[at] = last;
      return true;
    },
    size: () => entries.length,
    all: () => entries.map(({ item }) => item),
  };
}
