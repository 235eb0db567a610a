// A latched credential may be due for a probe; Redis decides which process sends it. A request does not wait for that beyond its deadline.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';

/** An operation that needs no key, because keys are in Redis as well. */
const open = {
  '/v1/open': {
    get: { operationId: 'readOpen', 'x-gateway-public': true, responses: { 200: { description: 'done' } } },
  },
};

describe('a request that finds the credential due for a probe, with a silent Redis', () => {
  let redis: TestRedis;
  let world: World;
  let nowMs = Date.now();
  before(async () => {
    redis = await startRedis();
    const secrets = temporaryDirectory();
    writeFileSync(join(secrets, 'keeper_password'), 'of the keeper');
    world = await createWorld(
      { environment: { SECRETS_DIR: secrets, REDIS_URL: redis.url }, now: () => nowMs },
      {
        credential: { basic: { user: 'keeper', secret: 'keeper_password' } },
        timeoutMs: 100,
        // biome-ignore lint/suspicious/noThenProperty: the name that the rules have.
        answers: [{ when: { status: 403 }, then: { credential: 'refused' } }],
      },
      open,
    );
    world.upstream.plays((socket) => socket.write(httpAnswer(403, '{}')));
    assertRefusal(await world.call('GET /v1/open'), 'upstream_auth_failed');
  });
  after(async () => {
    redis.resume();
    await world.close();
    await redis.stop();
  });

  it('is refused at its deadline', async () => {
    // Later than the first wait of the schedule.
    nowMs += 40_000;
    redis.pause();
    assertRefusal(await world.call('GET /v1/open'), 'upstream_timeout');
  });
});
