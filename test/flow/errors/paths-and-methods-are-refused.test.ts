// A path or method that is not served is answered with those that are.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REFUSALS } from '../../../gateway/catalogue/errors.ts';
import { assertErrorHeaders, runCases } from '../../support/errors.ts';
import { createWorld, type World } from '../../support/world.ts';
import { routingCases } from './routing.cases.ts';

describe('paths and methods', () => {
  let world: World;
  before(async () => {
    world = await createWorld();
  });
  after(() => world.close());

  runCases(routingCases, () => world);

  it('that were refused reached no upstream', () => {
    assert.deepEqual(world.upstream.received, []);
  });

  it('HEAD is refused by its headers alone', async () => {
    const answer = await world.call('HEAD /v1/nothing');
    assert.equal(answer.status, 404);
    assert.equal(answer.headers['x-error-code'], 'route_not_found');
    assert.ok(Number(answer.headers['content-length']) > 100, 'as long as the answer to GET would be');
    assertErrorHeaders(answer, REFUSALS.route_not_found);
  });

  it('the published keys are public, and may be cached for a while', async () => {
    const answer = await world.call('GET /.well-known/jwks.json', { Authorization: undefined });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['cache-control'], 'public, max-age=300');
    assert.match(answer.headers['x-request-id'] ?? '', /^req_/);
    const { keys } = JSON.parse(answer.body.toString()) as { keys: Record<string, unknown>[] };
    assert.ok(keys.length > 0 && keys.every((key) => key.kty === 'OKP' && key.d === undefined));
  });

  for (const target of ['/v1/things', '/.well-known/jwks.json']) {
    it(`OPTIONS ${target} is answered without a key and without an upstream`, async () => {
      const answer = await world.call(`OPTIONS ${target}`, { Authorization: undefined });
      assert.equal(answer.status, 204);
      assert.match(answer.headers.allow ?? '', /^GET, HEAD, OPTIONS/);
      assert.equal(answer.headers['cache-control'], 'no-store');
      assert.match(answer.headers['x-request-id'] ?? '', /^req_/);
      assert.deepEqual(world.upstream.received, []);
    });
  }
});
