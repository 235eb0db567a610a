// Names of components when several documents become one: equal components share a name, others get the name of their document in front.

import type { ContractDocument } from '../document.ts';
import { type Copy, componentAt, createCopy } from './copy.ts';

/** `schemas/Job` → JSON, of everything that is in the joint document so far. */
export type Taken = Map<string, string>;

/** The components of one document that its operations need, under the names they get. */
export interface NamedComponent {
  readonly copy: Copy;
  /** Those that are not in the joint document yet: `[kind, name, JSON]`. */
  readonly added: readonly (readonly [string, string, string])[];
}

/**
 * @param used `schemas/Job` and the like, as the document has them
 * @param prefix stands before names that mean something else already
 */
export function nameComponents(
  document: ContractDocument,
  used: ReadonlySet<string>,
  prefix: string,
  taken: Taken,
): NamedComponent {
  const renamed = new Map<string, string>();
  const copy = createCopy(document.root, (place) => renamed.get(place) ?? place);
  const textOf = (place: string) => JSON.stringify(copy(componentAt(document.root, place)));
  // A component that refers to a renamed one is another one, too.
  for (let before = -1; before !== renamed.size; ) {
    before = renamed.size;
    for (const place of used) {
      const there = renamed.has(place) ? undefined : taken.get(place);
      if (there !== undefined && there !== textOf(place)) renamed.set(place, freeName(place, prefix, taken));
    }
  }
  const added: [string, string, string][] = [];
  for (const place of used) {
    const name = renamed.get(place) ?? place;
    if (taken.has(name)) continue;
    const text = textOf(place);
    taken.set(name, text);
    const [kind = '', ...rest] = name.split('/');
    added.push([kind, rest.join('/'), text]);
  }
  return { copy, added };
}

function freeName(place: string, prefix: string, taken: Taken): string {
  const [kind, name] = place.split('/');
  let free = `${kind}/${prefix}_${name}`;
  for (let count = 2; taken.has(free); count++) free = `${kind}/${prefix}_${name}_${count}`;
  return free;
}
