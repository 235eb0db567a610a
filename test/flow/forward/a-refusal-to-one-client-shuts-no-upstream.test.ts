// An upstream with a `credential` stays open to all clients when it refuses one of them. 401 and 407 alone say, without a declared rule,
// that the credential of the gateway was refused.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertRefusal } from '../../support/errors.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';

const credential = { basic: { user: 'keeper', secret: 'keeper_password' } };

let secrets: string;
let world: World;
async function begin(entry: object = {}): Promise<void> {
  world = await createWorld({ environment: { SECRETS_DIR: secrets } }, { credential, ...entry });
}
beforeEach(() => {
  secrets = temporaryDirectory();
  writeFileSync(join(secrets, 'keeper_password'), 'of the keeper');
});
afterEach(async () => {
  await world.close();
});

/** The upstream answers like this from now on. */
const answers = (status: number, body = '{}') =>
  world.upstream.plays((socket) => socket.write(httpAnswer(status, body)));

async function state(): Promise<unknown> {
  const status = (await (await fetch(`${world.gateway.adminUrl}/status`)).json()) as {
    upstreams: { things: { credential: string } };
  };
  return status.upstreams.things.credential;
}

describe('an upstream with a credential that refuses one client', () => {
  for (const status of [400, 402, 403, 404, 409, 422]) {
    it(`with ${status} goes on serving the others`, async () => {
      await begin();
      answers(status, '{"error":{"code":"not_yours","message":"This thing is not yours."}}');
      const refused = await world.call('GET /v1/things');
      assert.deepEqual(
        [refused.status, refused.error.code, refused.error.message],
        [status, 'not_yours', 'This thing is not yours.'],
      );
      answers(200);
      assert.equal((await world.call('GET /v1/things')).status, 200);
      assert.equal(world.upstream.received.length, 2);
      assert.equal(await state(), 'proven');
    });
  }

  it('with 403 has not accepted the credential by that', async () => {
    await begin();
    answers(403);
    assert.equal((await world.call('GET /v1/things')).status, 403);
    assert.equal(await state(), 'unproven');
  });
});

describe('an upstream that refuses the credential', () => {
  for (const status of [401, 407]) {
    it(`with ${status} gets no further request`, async () => {
      await begin();
      answers(status);
      for (let i = 0; i < 3; i++) assertRefusal(await world.call('GET /v1/things'), 'upstream_auth_failed');
      assert.equal(world.upstream.received.length, 1);
      assert.equal(await state(), 'latched');
    });
  }

  it('with a status that a rule declares gets no further request', async () => {
    const body = { code: 'locked' };
    // biome-ignore lint/suspicious/noThenProperty: the key of the file
    await begin({ answers: [{ when: { status: 403, body }, then: { credential: 'refused' } }] });
    answers(403, '{"code":"not_yours"}');
    assert.equal((await world.call('GET /v1/things')).status, 403);
    answers(403, JSON.stringify(body));
    for (let i = 0; i < 3; i++) assertRefusal(await world.call('GET /v1/things'), 'upstream_auth_failed');
    assert.equal(world.upstream.received.length, 2);
  });
});
