// A document in pieces of text, which go from thread to thread at the cost of copying bytes. A member is parsed when it is first asked
// for, so most of a large document, such as its examples, never is.

import type { JsonObject } from './document.ts';
import { hasEscapedNames } from './json.ts';
import { isObject } from './pointer.ts';

/** A member as text, or as it is where JSON.parse would not give it back. */
export type Member = readonly [name: string, text: string | undefined, value?: unknown];

/** Some members of an object somewhere in the document. */
export interface Piece {
  readonly place: readonly string[];
  readonly members: readonly Member[];
}

/** Takes about a millisecond to take over. */
const PIECE_CHARACTERS_MAX = 1_000_000;

/** Takes apart what is made of many members by design: the document itself, its paths, its components by kind. */
export function* jsonPiecesOf(object: JsonObject, place: readonly string[] = []): Generator<Piece> {
  let members: Member[] = [];
  let characters = 0;
  for (const [name, value] of Object.entries(object)) {
    if (isObject(value) && isTakenApart(place)) {
      yield { place, members: [...members, [name, '{}']] };
      yield* jsonPiecesOf(value, [...place, name]);
      members = [];
      characters = 0;
      continue;
    }
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) continue;
    members.push(hasEscapedNames(text) ? [name, undefined, value] : [name, text]);
    characters += text.length;
    if (characters < PIECE_CHARACTERS_MAX) continue;
    yield { place, members };
    members = [];
    characters = 0;
  }
  yield { place, members };
}

function isTakenApart(place: readonly string[]): boolean {
  return place.length === 0 || (place.length === 1 && place[0] === 'components');
}

/** Puts a piece where it belongs; those before it have made the place. Names such as `__proto__` are names like all others. */
export function putPiece(root: JsonObject, { place, members }: Piece): void {
  const object = place.reduce((parent, name) => parent[name] as JsonObject, root);
  for (const [name, text, value] of members) {
    if (text === undefined) Object.defineProperty(object, name, { value, enumerable: true });
    else Object.defineProperty(object, name, { get: parsedLater(text), enumerable: true });
  }
}

/** Stays a getter: making properties of getters takes time that grows with the square of their number. */
function parsedLater(text: string): () => unknown {
  let unparsed: string | undefined = text;
  let value: unknown;
  return function parsed() {
    if (unparsed !== undefined) value = JSON.parse(unparsed);
    unparsed = undefined;
    return value;
  };
}
