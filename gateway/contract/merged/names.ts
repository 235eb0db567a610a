// Names components when several documents become one. Equal components share a name, and others get their document's name as a prefix.

import type { ContractDocument } from '../reading/document.ts';
import { type Copy, componentAt, createCopy } from './copy.ts';

/** Maps each component of the joint document (`schemas/Job`) to its JSON. */
export type TakenNames = Map<string, string>;

/** The components of one document that its operations need, under their new names. */
interface NamedComponent {
  readonly copy: Copy;
  /** The components that are not yet in the joint document, as `[kind, name, JSON]`. */
  readonly added: readonly (readonly [string, string, string])[];
}

/** The context on which the names of a document's components depend. */
interface NamingContext {
  readonly document: ContractDocument;
  /** The names of components in the document, such as `schemas/Job`. */
  readonly used: ReadonlySet<string>;
  readonly taken: TakenNames;
  /** Returns the name that an operation has in the joint document. */
  idOf(declared: string): string;
}

export function nameComponents({ document, used, taken, idOf }: NamingContext): NamedComponent {
  const prefix = prefixOf(document);
  const renamed = new Map<string, string>();
  const { copy, copyLink } = createCopy(document.root, (place) => renamed.get(place) ?? place, idOf);
  const copyOf = (place: string) => (place.startsWith('links/') ? copyLink : copy)(componentAt(document.root, place));
  const textOf = (place: string) => JSON.stringify(copyOf(place));
  // A component that refers to a renamed component changes as well, so the loop repeats until no name changes.
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

/**
 * Returns the document's file name, reduced to the characters that component names may contain. It makes names of the joint document
 * unique.
 */
export function prefixOf({ file }: ContractDocument): string {
  const [, stem = 'other'] = /([^/\\]+?)\.[a-z]+$/i.exec(file) ?? [];
  return stem.replace(/[^A-Za-z0-9._-]/g, '_');
}

function freeName(place: string, prefix: string, taken: TakenNames): string {
  const [kind, name] = place.split('/');
  let free = `${kind}/${prefix}_${name}`;
  for (let count = 2; taken.has(free); count++) free = `${kind}/${prefix}_${name}_${count}`;
  return free;
}
