// The differential check of the reader of usual requests against Node's parser.

import assert from 'node:assert/strict';
import { readUsualHead } from '../../../gateway/http1/usual-head.ts';
import { createRandom, makeRequest } from './heads.ts';
import { readByNode } from './node-reader.ts';

const bounds = { headBytesMax: 24_576, fieldBytesMax: 16_384 };
/** That of the listener with these bounds. */
const NODE_BYTES_MAX = bounds.headBytesMax + 1024;

export interface Compared {
  readonly taken: number;
  readonly waiting: number;
  readonly unusual: number;
}

/**
 * Compares `count` requests. Throws if only the reader of usual requests takes one, or if the two differ about one that both take.
 */
export function compareReaders(seed: number, count: number): Compared {
  const random = createRandom(seed);
  const compared = { taken: 0, waiting: 0, unusual: 0 };
  for (let index = 0; index < count; index += 1) {
    const text = makeRequest(random);
    try {
      compared[compareReading(text, Math.floor(random() * text.length))] += 1;
    } catch (error) {
      throw new Error(`seed ${seed}, request ${index}: ${JSON.stringify(text)}`, { cause: error });
    }
  }
  return compared;
}

/** @param cut where the bytes are divided for Node */
export function compareReading(text: string, cut: number): keyof Compared {
  const bytes = Buffer.from(text, 'latin1');
  const head = readUsualHead(bytes, bounds);
  if (head === 'unusual') return 'unusual';
  const node = readByNode([bytes.subarray(0, cut), bytes.subarray(cut)], NODE_BYTES_MAX);
  if (head === 'more') {
    // While the rest is awaited, Node's parser would await it too.
    assert.deepEqual(node, { requests: [], hasFailed: false });
    return 'waiting';
  }
  const [request] = node.requests;
  const body = text.slice(head.headBytes, head.headBytes + head.bodyBytes);
  assert.deepEqual(request, {
    method: head.method,
    target: head.target,
    version: '1.1',
    lines: head.rawHeaders,
    isPersistent: head.isPersistent,
    upgrades: false,
    body,
    isComplete: body.length === head.bodyBytes,
  });
  const rest = bytes.subarray(head.headBytes + head.bodyBytes);
  // What follows begins another request: Node reads it as it reads these bytes alone.
  if (rest.length === 0) assert.ok(!node.hasFailed && node.requests.length === 1);
  else if (head.isPersistent) {
    const next = readByNode([rest], NODE_BYTES_MAX);
    assert.deepEqual(node.requests.slice(1), next.requests);
  }
  assert.deepEqual([...head.fields], namesLowered(head.rawHeaders));
  return 'taken';
}

function namesLowered(lines: readonly string[]): [string, string][] {
  const fields: [string, string][] = [];
  for (let at = 0; at < lines.length; at += 2) fields.push([String(lines[at]).toLowerCase(), String(lines[at + 1])]);
  return fields;
}
