// The client address is computed from the right, through trusted proxies only; other claims of the client about itself are not passed on.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { headersOf } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';
import { sampleOf } from '../tls/secure-gateway.ts';

type Seen = { readonly address: string; readonly proto: string; readonly forwarded: string };

function worldWith(trustedProxies: readonly string[]): () => World {
  let world: World | undefined;
  before(async () => {
    world = await createWorld({ gateway: { trustedProxies } });
  });
  after(() => world?.close());
  return () => world as World;
}

async function seen(world: World, headers: Record<string, string | readonly string[]>): Promise<Seen> {
  const answer = await world.call('GET /v1/things', { Host: 'a', ...headers });
  assert.equal(answer.status, 200);
  const arrived = headersOf(world.upstream.received.at(-1) ?? '');
  const read = (name: string) => arrived.get(name) ?? '';
  return { address: read('x-forwarded-for'), proto: read('x-forwarded-proto'), forwarded: read('forwarded') };
}

describe('from a peer that is not trusted', () => {
  const world = worldWith([]);

  it('nothing about the client is trusted', async () => {
    const claims = {
      'X-Forwarded-For': '192.0.2.1, 10.0.0.1',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'evil.example',
      'X-Forwarded-Port': '1',
      'X-Real-IP': '192.0.2.1',
      Forwarded: 'for=192.0.2.1;proto=https;host=evil.example',
    };
    assert.deepEqual(await seen(world(), claims), {
      address: '127.0.0.1',
      proto: 'http',
      forwarded: 'for=127.0.0.1;proto=http;host="a"',
    });
    assert.doesNotMatch(world().upstream.received.join(), /evil|192\.0\.2/);
  });
});

describe('from a trusted proxy', () => {
  const world = worldWith(['127.0.0.1', '10.0.0.0/8', '2001:db8::/32']);
  const cases: readonly (readonly [string, string | readonly string[], string])[] = [
    ['the last address is the client', '192.0.2.1', '192.0.2.1'],
    ['entries left of the client are its own claim', '10.1.1.1, 198.51.100.7, 192.0.2.1', '192.0.2.1'],
    ['further trusted proxies are walked through', '192.0.2.1, 10.0.0.2, 10.0.0.1', '192.0.2.1'],
    ['the outermost trusted address stands where all are trusted', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['several lines are one list', ['192.0.2.9', '192.0.2.1, 10.0.0.1'], '192.0.2.1'],
    ['IPv6 proxies are walked through', '192.0.2.1, 2001:db8::1', '192.0.2.1'],
    ['a mapped IPv4 address is an IPv4 address', '::ffff:192.0.2.1', '192.0.2.1'],
    ['in any case', '::FFFF:192.0.2.1', '192.0.2.1'],
    ['an entry that is no address ends the walk', '192.0.2.1, unknown, 10.0.0.1', '10.0.0.1'],
    ['an address may have a port', '192.0.2.1:4711', '192.0.2.1'],
    ['an IPv6 address in brackets, too', '[2001:1::7]:4711', '2001:1::7'],
    ['or brackets alone', '[2001:1::7]', '2001:1::7'],
    ['a mapped one with a port is an IPv4 address', '[::ffff:192.0.2.1]:4711', '192.0.2.1'],
    ['ports of proxies are walked through', '192.0.2.1:1, 10.0.0.2:443, [2001:db8::1]:443', '192.0.2.1'],
    ['an IPv6 address with a port and without brackets is read as an address', '2001:1::7:4711', '2001:1::7:4711'],
    ['a port that is none ends the walk', '192.0.2.1:http', '127.0.0.1'],
    ['brackets around IPv4 end it', '[192.0.2.1]:80', '127.0.0.1'],
    ['an empty entry ends it', '192.0.2.1,', '127.0.0.1'],
    ['nothing at all leaves the proxy', '', '127.0.0.1'],
  ];
  for (const [name, value, expected] of cases) {
    it(name, async () => {
      assert.equal((await seen(world(), { 'X-Forwarded-For': value })).address, expected);
    });
  }

  it('an entry that cannot be read is counted each time, and logged once', async () => {
    const { gateway } = world();
    const series = 'gateway_forwarded_for_unreadable_total';
    const before = (await sampleOf(gateway, series)) as number;
    for (const entry of ['unknown', '_hidden', '192.0.2.1:http']) await seen(world(), { 'X-Forwarded-For': entry });
    await seen(world(), { 'X-Forwarded-For': '192.0.2.1:80' });
    await seen(world(), { 'X-Forwarded-For': '' });
    await seen(world(), {});
    assert.equal(await sampleOf(gateway, series), before + 3);
    const told = gateway.logLines().filter(({ msg }) => /X-Forwarded-For/.test(String(msg)));
    assert.deepEqual(
      told.map(({ level, proxy }) => [level, proxy]),
      [[40, '10.0.0.1']],
    );
  });

  it('an IPv6 client is bracketed and quoted in Forwarded', async () => {
    const { address, forwarded } = await seen(world(), { 'X-Forwarded-For': '2001:1::7' });
    assert.equal(address, '2001:1::7');
    assert.equal(forwarded, 'for="[2001:1::7]";proto=http;host="a"');
  });

  it('the scheme comes from the proxy', async () => {
    assert.equal((await seen(world(), { 'X-Forwarded-Proto': 'https' })).proto, 'https');
    assert.equal((await seen(world(), { 'X-Forwarded-Proto': 'gopher' })).proto, 'http');
  });
});
