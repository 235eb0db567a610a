// The reader of usual requests beside Node's parser: what it takes, Node takes with the same method, target, field lines and body; what it
// waits for, Node waits for. A difference would let one request hide in another. HEAD_RUNS and HEAD_SEED set how many and which.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readUsualHead } from '../../../gateway/http1/usual-head.ts';
import { compareReaders, compareReading } from './compare.ts';
import { createRandom, makeRequest } from './heads.ts';

const runs = Number(process.env.HEAD_RUNS ?? 20_000);
const seed = Number(process.env.HEAD_SEED ?? 1);
const bounds = { headBytesMax: 24_576, fieldBytesMax: 16_384 };

it('requests by chance are read alike', () => {
  const { taken, waiting, unusual } = compareReaders(seed, runs);
  assert.ok(taken > runs / 10 && waiting > runs / 200 && unusual > runs / 10, `${taken}, ${waiting}, ${unusual}`);
});

describe('a request cut at any byte', () => {
  it('is awaited or unusual before its end, and never another one', () => {
    const random = createRandom(seed);
    for (let left = 30; left > 0; ) {
      const text = makeRequest(random);
      const bytes = Buffer.from(text, 'latin1');
      const whole = readUsualHead(bytes, bounds);
      if (typeof whole === 'string') continue;
      left -= 1;
      for (let cut = 0; cut <= bytes.length; cut += 1) {
        const part = readUsualHead(bytes.subarray(0, cut), bounds);
        if (cut >= whole.headBytes) assert.deepEqual(part, whole);
        else assert.ok(typeof part === 'string', `${cut} bytes of ${JSON.stringify(text)}`);
        compareReading(text.slice(0, cut), cut >> 1);
      }
    }
  });
});

it('a request with any byte in the place of another one is read alike', () => {
  const lines = 'Host: a\r\nConnection: close\r\nContent-Length: 5\r\nX-A:  b c \r\n';
  const text = `PUT /v1/a?b=c HTTP/1.1\r\n${lines}\r\nhello`;
  for (let at = 0; at < text.length; at += 1) {
    for (let code = 0; code < 256; code += 1)
      compareReading(text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1), at);
  }
});
