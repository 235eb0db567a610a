// The thread that reads contracts (reader.ts): told a file, it answers what is wrong with it, and then its content by the piece.

import { parentPort } from 'node:worker_threads';
import type { Mistake } from '../config-errors.ts';
import { createDirectReader } from './document.ts';
import { jsonPiecesOf, type Piece } from './pieces.ts';
import type { ReadReply, ReadRequest } from './reader.ts';

const port = parentPort as NonNullable<typeof parentPort>;
const reader = await createDirectReader();
let waiting: Piece[] = [];

async function read(file: string): Promise<ReadReply> {
  const mistakes: Mistake[] = [];
  const content = await reader.readContract(file, mistakes);
  if (content === undefined) return { mistakes, content: undefined };
  const { root, ...rest } = content;
  waiting = [...jsonPiecesOf(root)];
  return { mistakes, content: { ...rest, pieces: waiting.length } };
}

function answerTo(question: ReadRequest): unknown {
  if (question === 'next') return waiting.shift();
  return 'spots' in question ? reader.locate(question.file, question.spots) : read(question.file);
}

port.on('message', async (question: ReadRequest) => port.postMessage(await answerTo(question)));
