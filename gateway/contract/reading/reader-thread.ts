// The worker thread that reads contracts for reader.ts. For a file it replies with the mistakes, and then, on request, with the content
// piece by piece.

import { parentPort } from 'node:worker_threads';
import type { Mistake } from '../../shared/mistakes.ts';
import { positionsIn } from '../../shared/yaml-source.ts';
import { createDirectReader } from './document.ts';
import { jsonPiecesOf, type Piece } from './document-pieces.ts';
import type { ReadReply, ReadRequest } from './reader.ts';

const port = parentPort as NonNullable<typeof parentPort>;
let waiting: Piece[] = [];

async function read(file: string, directory: string | undefined): Promise<ReadReply> {
  const mistakes: Mistake[] = [];
  const content = await createDirectReader(directory).readContract(file, mistakes);
  if (content === undefined) return { mistakes, content: undefined };
  const { root, ...rest } = content;
  waiting = [...jsonPiecesOf(root)];
  return { mistakes, content: { ...rest, pieces: waiting.length } };
}

function replyTo(message: ReadRequest): unknown {
  if (message === 'next') return waiting.shift();
  return 'spots' in message ? positionsIn(message.file, message.spots) : read(message.file, message.directory);
}

port.on('message', async (message: ReadRequest) => port.postMessage(await replyTo(message)));
