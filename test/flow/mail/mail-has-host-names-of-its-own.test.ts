// Administration and JMAP can be bound to host names of their own on the same listener; the panel is nowhere else.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Answer } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startMailWorld } from '../../support/mail.ts';

type World = Awaited<ReturnType<typeof startMailWorld>>;

const statusesOn = async (world: World, host: string) => {
  const at = (line: string): Promise<Answer> => world.call(line, undefined, { Host: host });
  return {
    principals: (await at('GET /api/principal')).status,
    discovery: (await at('GET /.well-known/jmap')).status,
    panel: (await at('GET /login')).status,
  };
};

describe('with host names for each', () => {
  let world: World;
  before(async () => {
    const hosts = { mail: 'mail.test', jmap: 'jmap.test', panel: 'mailadmin.test' };
    world = await startMailWorld({}, { gateway: { publicUrl: 'http://api.test', hosts } });
  });
  after(() => world.stop());

  it('the administration is where the API is and on the name for mail', async () => {
    assert.deepEqual(await statusesOn(world, 'api.test'), { principals: 200, discovery: 307, panel: 404 });
    assert.deepEqual(await statusesOn(world, 'mail.test'), { principals: 200, discovery: 307, panel: 404 });
  });

  it('the name for JMAP has JMAP alone', async () => {
    assert.deepEqual(await statusesOn(world, 'jmap.test'), { principals: 404, discovery: 307, panel: 404 });
  });

  it('the name for the panel has everything, by the mail user’s own credentials, and leads to its entrance', async () => {
    const at = (line: string) => world.call(line, undefined, { Host: 'mailadmin.test' });
    const page = await at('GET /login');
    assert.deepEqual([page.status, page.headers['content-type']?.split(';')[0]], [200, 'text/html']);
    const moved = await at('GET /admin');
    assert.match(String(moved.status), /^30[278]$/);
    assert.equal(moved.headers.location, '/login');
    // The users of this host are those of the mail server, whose credentials pass through.
    assert.equal((await at('GET /api/principal')).status, 200);
    assert.equal(world.mail.received.at(-1), 'GET /api/principal');
  });

  it('every other name is misdirected, for every request', async () => {
    const before = world.mail.received.length;
    for (const host of ['elsewhere.test', '127.0.0.1', 'mail.test.elsewhere.test', 'xmail.test'])
      for (const line of [
        'GET /api/principal',
        'GET /.well-known/jmap',
        'GET /jmap/session',
        'GET /login',
        'GET /nothing',
      ]) {
        const { status, error } = await world.call(line, undefined, { Host: host });
        assert.deepEqual([status, error.code], [421, 'misdirected_request'], `${host} ${line}`);
      }
    assert.equal(world.mail.received.length, before);
  });
});

describe('without host names', () => {
  it('everything but the panel is on every name', async () => {
    const world = await startMailWorld();
    for (const host of ['localhost', 'anything.test', '127.0.0.1'])
      assert.deepEqual(await statusesOn(world, host), { principals: 200, discovery: 307, panel: 404 });
    assertRefusal(await world.call('GET /admin'), 'route_not_found');
    await world.stop();
  });
});
