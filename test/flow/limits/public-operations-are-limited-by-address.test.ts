// Public operations have no key to count by: the tier `anonymous` of limits.yaml counts each client address. The shipped files have one.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { closesAfterEach } from '../../support/closing.ts';
import { assertRefusal } from '../../support/errors.ts';
import { createWorld } from '../../support/world.ts';

const start = closesAfterEach();
const open = {
  '/v1/open': {
    get: { operationId: 'getOpen', 'x-gateway-public': true, responses: { 200: { description: 'done' } } },
  },
};
const SHIPPED = 'config/limits.yaml';
const tiersOf = (file: string) =>
  (
    parse(readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')) as {
      tiers: Record<string, object | undefined>;
    }
  ).tiers;

describe('public operations', () => {
  it('are limited alike by the shipped limits.yaml and by that of `init`', () => {
    assert.deepEqual(tiersOf('gateway/commands/init/files/limits.yaml').anonymous, tiersOf(SHIPPED).anonymous);
  });

  it('are limited to 60 a minute for each client address', async () => {
    const options = { limits: { tiers: tiersOf(SHIPPED) }, gateway: { trustedProxies: ['127.0.0.1'] } };
    const world = await start(createWorld(options, {}, open));
    world.upstream.plays((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    const from = (address: string) =>
      world.call('GET /v1/open', { 'X-Forwarded-For': address, Authorization: undefined });
    const first = await from('192.0.2.1');
    assert.equal(first.status, 200);
    assert.equal(first.headers['ratelimit-policy'], '"address";q=60;w=60');
    for (let i = 1; i < 60; i++) assert.equal((await from('192.0.2.1')).status, 200);
    assertRefusal(await from('192.0.2.1'), 'rate_limited');
    assert.equal((await from('192.0.2.2')).status, 200);
    // One household: a whole /64.
    assert.equal((await from('2001:db8::1')).headers.ratelimit, '"address";r=59;t=60');
    assert.equal((await from('2001:db8::2')).headers.ratelimit, '"address";r=58;t=60');
  });
});
