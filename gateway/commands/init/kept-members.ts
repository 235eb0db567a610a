// Copies members that operators have added to the document of a service, such as `x-gateway-public: true`, to the next version of the
// document. Without this, an update would make a public operation require a key. Pure.

import { isMap, parseDocument } from 'yaml';
import { isRecord, type JsonObject } from '../../contract/pointer.ts';

/** A member for the gateway, of the document, of a path or of an operation. */
interface KeptMember {
  /** The place of the object that contains the member. */
  readonly place: readonly string[];
  readonly name: string;
  readonly value: unknown;
}

/**
 * Finds members for the gateway that the former document contains, and the fetched document lacks. Skips objects that the fetched document
 * lacks.
 */
export function keptMembers(former: unknown, fetched: unknown): KeptMember[] {
  return placesIn(former).flatMap(({ place, object }) => {
    const now = objectAt(fetched, place);
    if (now === undefined) return [];
    return Object.entries(object)
      .filter(([name]) => name.startsWith('x-gateway-') && !Object.hasOwn(now, name))
      .map(([name, value]) => ({ place, name, value }));
  });
}

function placesIn(root: unknown): { readonly place: readonly string[]; readonly object: JsonObject }[] {
  if (!isRecord(root)) return [];
  const places: { place: readonly string[]; object: JsonObject }[] = [{ place: [], object: root }];
  for (const [path, item] of Object.entries(isRecord(root.paths) ? root.paths : {})) {
    if (!isRecord(item)) continue;
    places.push({ place: ['paths', path], object: item });
    for (const [method, operation] of Object.entries(item))
      if (isRecord(operation)) places.push({ place: ['paths', path, method], object: operation });
  }
  return places;
}

function objectAt(root: unknown, place: readonly string[]): JsonObject | undefined {
  let at: unknown = root;
  for (const key of place) at = isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return isRecord(at) ? at : undefined;
}

/** Adds members to the text of a document. The rest of the text stays, because a parser would round long numbers. */
export function withMembers(text: string, members: readonly KeptMember[]): string {
  if (members.length === 0) return text;
  const document = parseDocument(text);
  const insertions = members.flatMap(({ place, name, value }) => {
    const node = place.length === 0 ? document.contents : document.getIn(place, true);
    if (!isMap(node) || !node.range) return [];
    const [start] = node.range;
    const member = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    if (node.flow) {
      const [space = ''] = /^\s*/.exec(text.slice(start + 1)) ?? [];
      return [
        { at: start + 1, text: node.items.length === 0 ? member : `${space}${member},${space === '' ? ' ' : ''}` },
      ];
    }
    const indent = ' '.repeat(start - (text.lastIndexOf('\n', start - 1) + 1));
    return [{ at: start, text: `${member}\n${indent}` }];
  });
  return insertions
    .toSorted((one, other) => other.at - one.at)
    .reduce((written, one) => written.slice(0, one.at) + one.text + written.slice(one.at), text);
}

/** Names a member, as in `x-gateway-public of GET /open`. */
export function memberText({ place, name }: KeptMember): string {
  const [, path, method] = place;
  if (path === undefined) return `${name} of the document`;
  return `${name} of ${method === undefined ? path : `${method.toUpperCase()} ${path}`}`;
}
