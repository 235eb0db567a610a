// An operation that the document of a service declares public succeeds with any credential, and so does the health check of the entry.
// Neither shows that the credential of the gateway is right, nor does either heal one that was refused.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertRefusal } from '../../support/errors.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';

const responses = { 200: { description: 'done', content: { 'application/json': { schema: {} } } } };
const paths = {
  '/v1/healthz': { get: { operationId: 'health', security: [], responses } },
  '/v1/ready': { get: { operationId: 'ready', responses } },
};
const entry = {
  credential: { bearer: { secret: 'keeper_token' } },
  security: { read: ['things:read'], write: ['things:write'] },
  health: { path: '/v1/ready' },
  maxInFlight: 7,
};

let world: World;
beforeEach(async () => {
  const secrets = temporaryDirectory();
  writeFileSync(join(secrets, 'keeper_token'), 'of-the-keeper');
  world = await createWorld({ environment: { SECRETS_DIR: secrets } }, entry, paths);
  world.upstream.plays((socket, request) =>
    socket.write(httpAnswer(request.includes(' /v1/things') ? 401 : 200, '{}')),
  );
});
afterEach(() => world.close());

async function state(): Promise<unknown[]> {
  const status = (await (await fetch(`${world.gateway.adminUrl}/status`)).json()) as {
    upstreams: { things: { credential: string; places: number } };
  };
  const { credential, places } = status.upstreams.things;
  return [credential, places];
}

it('leaves it unproven, and lets more than one request be sent at a time', async () => {
  assert.deepEqual(await state(), ['unproven', 1]);
  for (const path of ['/v1/healthz', '/v1/ready']) assert.equal((await world.call(`GET ${path}`)).status, 200);
  assert.deepEqual(await state(), ['unproven', 7]);
  assertRefusal(await world.call('GET /v1/things'), 'upstream_auth_failed');
  assert.deepEqual(await state(), ['latched', 1]);
  assertRefusal(await world.call('GET /v1/healthz'), 'upstream_auth_failed');
  assert.deepEqual(await state(), ['latched', 1]);
});

it('leaves a proof to the first operation that needs it', async () => {
  world.upstream.plays((socket) => socket.write(httpAnswer(200, '{}')));
  assert.equal((await world.call('GET /v1/things')).status, 200);
  assert.equal((await world.call('GET /v1/healthz')).status, 200);
  assert.deepEqual(await state(), ['proven', 7]);
});
