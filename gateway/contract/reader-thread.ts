// The thread that reads contracts (reader.ts): told a file, it answers what is wrong with it, and then its content by the piece.

import { parentPort } from 'node:worker_threads';
import type { Mistake } from '../mistakes.ts';
import { createReadContract, type JsonObject } from './document.ts';
import { isObject } from './pointer.ts';
import type { Piece, ReadReply } from './reader.ts';

/** What takes a few milliseconds to take over. */
const PIECE_CHARACTERS_MAX = 200_000;
/** How deep objects are taken apart: that of `components.schemas.<name>` and `paths.<template>`. */
const DEPTH_MAX = 2;

const port = parentPort as NonNullable<typeof parentPort>;
const readContract = await createReadContract();
let waiting: Piece[] = [];

async function read(file: string): Promise<ReadReply> {
  const mistakes: Mistake[] = [];
  const content = await readContract(file, mistakes);
  if (content === undefined) return { mistakes, content: undefined };
  const root: JsonObject = {};
  waiting = [...piecesOf(content.root, [])];
  return { mistakes, content: { ...content, root, pieces: waiting.length } };
}

/** An object as the members that are small together, and those that are large by themselves, taken apart in turn. */
function* piecesOf(object: JsonObject, place: readonly string[]): Generator<Piece> {
  let members: JsonObject = {};
  let characters = 0;
  for (const [name, value] of Object.entries(object)) {
    const size = JSON.stringify(value)?.length ?? 0;
    const isTakenApart = size > PIECE_CHARACTERS_MAX && isObject(value) && place.length < DEPTH_MAX;
    members[name] = isTakenApart ? {} : value;
    characters += isTakenApart ? 0 : size;
    if (characters <= PIECE_CHARACTERS_MAX && !isTakenApart) continue;
    yield { place, members };
    members = {};
    characters = 0;
    if (isTakenApart) yield* piecesOf(value, [...place, name]);
  }
  yield { place, members };
}

port.on('message', async (message: { readonly file: string } | 'next') => {
  port.postMessage(message === 'next' ? waiting.shift() : await read(message.file));
});
