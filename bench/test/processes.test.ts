// Contestants are processes, and the upstream is one too: they are started, held still, counted and stopped.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import { pidsOf, rest, startPinned, stop, wake } from '../contestants.ts';
import { cpuMicrosOf, peakBytesOf, processTree, residentBytesOf } from '../machine.ts';

const port = await freePort();
const upstream = await startPinned('upstream.ts', [String(port), '5000'], 0, port);
const contestant = { name: 'upstream', port, process: upstream, keys: [] };
after(() => stop(upstream));

function send(method: string, headers: Record<string, string>, pieces: readonly string[]) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method, headers, path: '/v1/customers' }, async (response) => {
      let body = '';
      for await (const chunk of response) body += chunk;
      resolve({ status: response.statusCode ?? 0, body });
    });
    sent.on('error', reject);
    for (const piece of pieces) sent.write(piece);
    sent.end();
  });
}

test('the upstream answers GET with a page of the configured length', async () => {
  const { status, body } = await send('GET', {}, []);
  assert.equal(status, 200);
  assert.equal(body.length, 5000);
  assert.equal(JSON.parse(body).data.length, 20);
});

test('the upstream answers POST once the body is whole, with a length or in chunks', async () => {
  for (const headers of [{ 'content-length': '10' }, { 'transfer-encoding': 'chunked' }]) {
    const { status, body } = await send('POST', headers as Record<string, string>, ['12345', '67890']);
    assert.equal(status, 201);
    assert.equal(JSON.parse(body).name, 'Customer 1');
  }
});

test('a contestant that rests does not run, and goes on when it is woken', async () => {
  const stateOf = () => /State:\s+(\w)/.exec(readFileSync(`/proc/${upstream.pid}/status`, 'utf8'))?.[1];
  rest(contestant);
  // The signal takes effect when the system next gets to the process.
  for (let attempt = 0; attempt < 500 && stateOf() !== 'T'; attempt += 1) await sleep(20);
  assert.equal(stateOf(), 'T');
  wake(contestant);
  assert.equal((await send('GET', {}, [])).status, 200);
});

test('time and memory of a process and of its children are known', () => {
  const pids = pidsOf(contestant);
  assert.deepEqual(pids, [upstream.pid]);
  assert.ok(processTree(process.pid).includes(upstream.pid as number));
  assert.ok(cpuMicrosOf(pids) > 0);
  assert.ok(residentBytesOf(pids) > 10e6);
  assert.ok(peakBytesOf(pids) >= residentBytesOf(pids));
});

test('a contestant can be stopped while it rests, and more than once', async () => {
  rest(contestant);
  await stop(upstream);
  assert.equal(upstream.signalCode, 'SIGTERM');
  await stop(upstream);
  assert.deepEqual(pidsOf(contestant), []);
});
