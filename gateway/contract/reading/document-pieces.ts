// Splits a document into pieces of text, which pass between threads at the cost of copying bytes. A member is parsed on first access, so
// most of a large document, such as its examples, is never parsed.

import { hasEscapedNames } from '../json.ts';
import { isRecord, type JsonObject } from '../pointer.ts';

/** A member as JSON text, or as a value if JSON.parse could misread the text. */
type Member = readonly [name: string, text: string | undefined, value?: unknown];

/** Some members of one object in the document. */
export interface Piece {
  readonly place: readonly string[];
  readonly members: readonly Member[];
}

/** Adding a piece of this size takes about a millisecond. */
const PIECE_CHARACTERS_MAX = 1_000_000;

/** Yields the members of an object in pieces. Splits the objects with many members: the document, its paths, and its components by kind. */
export function* jsonPiecesOf(object: JsonObject, place: readonly string[] = []): Generator<Piece> {
  let members: Member[] = [];
  let characters = 0;
  for (const [name, value] of Object.entries(object)) {
    if (isRecord(value) && isTakenApart(place)) {
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

/**
 * Adds a piece to the document; earlier pieces have created the parent object. Defines properties, because assigning a member named
 * `__proto__` would set the prototype.
 */
export function putPiece(root: JsonObject, { place, members }: Piece): void {
  const object = place.reduce((parent, name) => parent[name] as JsonObject, root);
  for (const [name, text, value] of members) {
    if (text === undefined) Object.defineProperty(object, name, { value, enumerable: true });
    else Object.defineProperty(object, name, { get: parsedLater(text), enumerable: true });
  }
}

/**
 * Returns a getter that parses on first access. It is not replaced by a data property, because replacing many getters takes time quadratic
 * in their number.
 */
function parsedLater(text: string): () => unknown {
  let unparsed: string | undefined = text;
  let value: unknown;
  return function parsed() {
    if (unparsed !== undefined) value = JSON.parse(unparsed);
    unparsed = undefined;
    return value;
  };
}
