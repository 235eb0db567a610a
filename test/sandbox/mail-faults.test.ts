// Faults of the sandbox mail server itself: 500 without details, reported to its operator, and without a password in the report.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailFor, PASSWORD } from './support/mail.ts';

test('a fault is a bare 500 problem', async (context) => {
  const faults: unknown[] = [];
  const server = await mailFor(context, {
    administrator: () => {
      throw new Error('the disk is gone');
    },
    onFault: (error) => faults.push(error),
  });
  const { status, text, body } = await server.call('GET', '/api/principal');
  assert.deepEqual([status, body.title, text.includes('disk')], [500, 'Internal Server Error', false]);
  assert.deepEqual(faults.map(String), ['Error: the disk is gone']);
});

test('a request that fails midway reveals no password', async (context) => {
  const faults: unknown[] = [];
  const server = await mailFor(context, { onFault: (error) => faults.push(error) });
  server.mail.server.prependListener('request', (request) => {
    if (request.method === 'POST') request.destroy(new Error('reset'));
  });
  await assert.rejects(server.call('POST', '/api/principal', { body: { name: 'x', secrets: [PASSWORD] } }));
  assert.equal((await server.call('GET', '/api/principal/x')).status, 200);
  assert.equal(JSON.stringify(faults.map(String)).includes(PASSWORD), false);
});
