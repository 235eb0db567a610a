// Says where a dangling reference may lead. Authors write the name alone, the sections of Swagger 2.0, or a path without its beginning.

import { closest } from '../../shared/mistakes.ts';
import { isRecord, type JsonObject, objectAt, pathOf, valueAt } from '../pointer.ts';
import type { LintExplanation } from './wrong-values.ts';

export const EXISTING_ONLY =
  'Point the $ref at something that exists, in this file or in one below the contracts directory.';

/** The beginning of the linter's messages about dangling references. */
export const DANGLING = "Can't resolve $ref";

/** Names the dangling reference at a place of a file, and the most similar reference that exists. @param message of the linter */
export function danglingExplanation(
  message: string,
  root: unknown,
  path: readonly string[],
): LintExplanation | undefined {
  const holder = valueAt(root, path);
  const reference = isRecord(holder) ? holder.$ref : undefined;
  if (typeof reference !== 'string' || !isRecord(root)) return undefined;
  const reason = message === DANGLING ? `${DANGLING} ${JSON.stringify(reference)}.` : `${message}.`;
  const meant = meantBy(reference, root);
  return { reason, remedy: meant === undefined ? EXISTING_ONLY : `Did you mean "${meant}"?` };
}

/** Returns a reference to something that exists, with the same name or nearly the same; undefined if there is none. */
function meantBy(reference: string, root: JsonObject): string | undefined {
  const isElsewhere = /^[^#]*\.(ya?ml|json)\b/i.test(reference);
  const tokens = reference.split(/[#/\\\s]+/).filter((token) => token !== '');
  const name = tokens.at(-1);
  if (name === undefined || isElsewhere) return undefined;
  const [, parent = ''] = /^#(\/.*)\/[^/]+$/.exec(reference) ?? [];
  const beside = valueAt(root, pathOf(parent));
  const sections = sectionsOf(root, tokens.at(-2));
  const places = [...(isRecord(beside) ? [[parent, Object.keys(beside)] as const] : []), ...sections];
  const found =
    places.find(([, names]) => names.includes(name)) ?? places.find(([, names]) => closest(name, names) !== undefined);
  return found && `#${found[0]}/${found[1].includes(name) ? name : closest(name, found[1])}`;
}

/** Returns the sections of named parts with their names, first the section that the reference seems to mean, then schemas. */
function sectionsOf(root: JsonObject, written = 'schemas'): (readonly [place: string, names: string[]])[] {
  const isSwagger = 'swagger' in root;
  const [holder, prefix] = isSwagger ? [root, ''] : [objectAt(root, 'components'), '/components'];
  const known = Object.keys(holder).filter((name) => isRecord(holder[name]) && !/^(paths|info)$/.test(name));
  const first = closest(written, known) ?? (isSwagger ? 'definitions' : 'schemas');
  const rankOf = (name: string) => (name === first ? 0 : /^(schemas|definitions)$/.test(name) ? 1 : 2);
  return known
    .sort((one, other) => rankOf(one) - rankOf(other))
    .map((name) => [`${prefix}/${name}`, Object.keys(objectAt(holder, name))] as const);
}

/** Returns the place of a reference that leads, perhaps through other references, to itself; undefined if there is none. */
export function circularReference(root: unknown): string[] | undefined {
  const seen = new Set<unknown>();

  function search(value: unknown, path: readonly string[]): string[] | undefined {
    if (typeof value !== 'object' || value === null || seen.has(value)) return undefined;
    seen.add(value);
    if (leadsToItself(root, value)) return [...path];
    for (const [name, below] of Object.entries(value)) {
      const found = search(below, [...path, name]);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  return search(root, []);
}

function leadsToItself(root: unknown, start: object): boolean {
  const passed = new Set<unknown>();
  let at: unknown = start;
  while (isRecord(at) && typeof at.$ref === 'string' && at.$ref.startsWith('#/')) {
    if (passed.has(at)) return at === start;
    passed.add(at);
    at = valueAt(root, pathOf(at.$ref.slice(1)));
  }
  return false;
}
