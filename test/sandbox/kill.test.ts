// Kill -9 in the middle of writes: answered writes are there, and a retry with the same key never does anything twice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertionOf, send } from './support/platform.ts';
import { install } from './support/process.ts';

const WRITES = 300;
const KILL_AFTER = 80;

test('retrying every write after a kill -9 leaves each of them done once', async (context) => {
  const installation = await install(context);
  const token = await assertionOf({}).sign(installation.key.privateKey);
  const first = installation.start();
  const answered = new Map<number, string>();
  const write = async (url: string, index: number): Promise<string> => {
    const headers = { 'idempotency-key': `write-${index}` };
    const reply = await send(url, token, 'POST', '/v1/guests', { headers, body: { name: `Guest ${index}` } });
    assert.equal(reply.status, 201);
    return reply.body.id;
  };

  const { services } = await first.ready;
  const attempts = Array.from({ length: WRITES }, async (_, index) => {
    answered.set(index, await write(`http://127.0.0.1:${services.platform}`, index));
    if (answered.size === KILL_AFTER) first.child.kill('SIGKILL');
  });
  await Promise.allSettled(attempts);
  await first.ended;
  assert.ok(answered.size >= KILL_AFTER && answered.size < WRITES, `${answered.size} were answered before the kill`);

  const second = await installation.start().ready;
  const url = `http://127.0.0.1:${second.services.platform}`;
  for (let index = 0; index < WRITES; index += 1) {
    const id = await write(url, index);
    assert.equal(id, answered.get(index) ?? id, 'an answered write is replayed');
  }

  const names: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const path: string = `/v1/guests?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const { body } = await send(url, token, 'GET', path);
    names.push(...body.data.map(({ name }: { name: string }) => name));
    cursor = body.cursor;
  }
  assert.deepEqual(names.sort(), Array.from({ length: WRITES }, (_, index) => `Guest ${index}`).sort());
});
