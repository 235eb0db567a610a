// Prototype pollution: `__proto__`, `constructor` or `prototype` is sent as the name of a parameter, a member or a header. Code that copies
// names into plain objects then changes the prototype of every object in the process: suddenly every caller has `scopes` or `operator:
// true`. Or a look-up in a plain object finds an inherited function where it expected nothing. The defence is that names of clients are
// only ever keys of Maps or of objects that are not looked up by them, and that contracts refuse undeclared names.

import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { headersOf, httpAnswer } from '../support/scripted-upstream.ts';
import { createWorld } from '../support/world.ts';

const world = await createWorld();
after(() => world.close());
beforeEach(() => world.upstream.plays((socket) => socket.write(httpAnswer(200, '{}'))));
afterEach(() => {
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  assert.deepEqual(Object.keys(Object.prototype), []);
});

const names = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', '__defineGetter__'];
const json = { 'Content-Type': 'application/json' };

describe('a name that every object has', () => {
  for (const name of names) {
    it(`is an unknown query parameter: ${name}`, async () => {
      for (const query of [`${name}=1`, `${name}[polluted]=1`, `${name}.polluted=1`, `q=a&${name}=1&${name}=2`]) {
        const answer = await world.call(`GET /v1/things?${query}`);
        assert.equal(answer.error.code, 'validation_failed', query);
        assert.deepEqual((answer.error.errors as { code: string }[]).map(({ code }) => code).slice(0, 1), ['unknown']);
      }
    });

    it(`is an unknown member: ${name}`, async () => {
      const answer = await world.call('POST /v1/things', json, `{"name":"a","${name}":{"polluted":true}}`);
      assert.equal(answer.error.code, 'validation_failed');
      const [first] = answer.error.errors as { code: string; pointer: string }[];
      assert.deepEqual([first?.code, first?.pointer], ['unknown', `/${name}`]);
    });

    it(`is an ordinary member where any is allowed, and arrives as it was sent: ${name}`, async () => {
      const body = `{"name":"a","more":{"${name}":{"polluted":true}}}`;
      const answer = await world.call('POST /v1/things', json, body);
      assert.equal(answer.status, 200);
      assert.ok(world.upstream.received.at(-1)?.endsWith(`\r\n\r\n${body}`));
    });

    it(`is an ordinary value of a path: ${name}`, async () => {
      assert.equal((await world.call(`GET /v1/things/${name}`)).status, 200);
      assert.equal((await world.call(`GET /v1/${name}`)).status, 404);
      assert.equal((await world.call(`GET /${name}/things`)).status, 404);
    });

    it(`is an ordinary header: ${name}`, async () => {
      const answer = await world.call('GET /v1/things', { [name]: 'polluted', 'X-A': 'b' });
      assert.equal(answer.status, 200);
      assert.doesNotMatch(world.upstream.received.at(-1) ?? '', /polluted/);
    });

    it(`is nothing that an upstream could change the gateway by: ${name}`, async () => {
      const body = `{"error":{"type":"${name}","code":"${name}","message":"A sentence.","${name}":{"polluted":true}}}`;
      world.upstream.plays((socket) => socket.write(httpAnswer(400, body, { [name]: 'polluted' })));
      const answer = await world.call('GET /v1/things');
      assert.equal(answer.status, 400);
      assert.equal(answer.error.type, 'invalid_request_error');
      assert.ok(answer.lines.every(([sent]) => sent.toLowerCase() !== name.toLowerCase()));
    });
  }

  it('keeps requests apart: the next caller sees nothing of it', async () => {
    await world.call('POST /v1/things', json, '{"name":"a","more":{"__proto__":{"scopes":["*"],"operator":true}}}');
    const { authorization } = await world.gateway.authorize({ scopes: ['orders:write'] });
    const answer = await world.call('GET /v1/things', { Authorization: authorization });
    assert.equal(answer.error.code, 'insufficient_scope');
    assert.equal(headersOf(world.upstream.received.at(-1) ?? '').get('x-organization-id'), 'org_test');
  });
});
