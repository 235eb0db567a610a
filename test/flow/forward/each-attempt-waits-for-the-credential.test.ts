// A request that is sent more than once waits for the credential each time. Here it is a latched one, whose next probe has become due.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertRefusal } from '../../support/errors.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';

let nowMs = Date.now();
/** Lets more time pass than the schedule of probes waits. */
function passTime(): void {
  nowMs += 3_600_000;
}

describe('a request with a latched credential', () => {
  let world: World;
  before(async () => {
    const secrets = temporaryDirectory();
    writeFileSync(join(secrets, 'keeper_password'), 'of the keeper');
    const answers = [
      // biome-ignore lint/suspicious/noThenProperty: the key of the file
      { when: { status: 403 }, then: { credential: 'refused' } },
      // biome-ignore lint/suspicious/noThenProperty: the key of the file
      { when: { status: 409 }, then: { code: 'upstream_overloaded', retry: true } },
    ];
    world = await createWorld(
      { environment: { SECRETS_DIR: secrets }, now: () => nowMs },
      { credential: { basic: { user: 'keeper', secret: 'keeper_password' } }, answers },
    );
  });
  after(() => world.close());
  beforeEach(async () => {
    world.upstream.plays((socket) => socket.write(httpAnswer(403, '{}')));
    assertRefusal(await world.call('GET /v1/things'), 'upstream_auth_failed');
    world.upstream.received.length = 0;
    passTime();
  });

  for (const [name, status] of Object.entries({ 'retried after 503': 503, 'repeated by a rule': 409 }))
    it(`is ${name} as another probe`, async () => {
      world.upstream.plays((socket) => {
        passTime();
        socket.write(httpAnswer(world.upstream.received.length === 1 ? status : 200, '{}'));
      });
      assert.equal((await world.call('GET /v1/things')).status, 200);
      assert.equal(world.upstream.received.length, 2);
    });
});
