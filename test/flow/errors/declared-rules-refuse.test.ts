// Rules, credentials and host names that an operator declares end in the same error object as everything else.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { ask, requestOf } from '../../support/connection.ts';
import { runCases } from '../../support/errors.ts';
import { startGateway } from '../../support/gateway.ts';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';
import type { World } from '../../support/world.ts';
import { declaredCases, declaredOptions } from './declared.cases.ts';

describe('a declaration', () => {
  const password = randomBytes(12).toString('hex');
  let world: World;
  before(async () => {
    const upstream = await startScriptedUpstream();
    const gateway = await startGateway(declaredOptions(upstream.url, password));
    const { authorization } = await gateway.authorize();
    world = {
      gateway,
      upstream,
      authorization,
      call: (line, headers = {}, body = undefined) =>
        ask(gateway.port, requestOf(line, { Authorization: authorization, ...headers }, body)),
      async close() {
        await gateway.stop();
        await upstream.close();
      },
    };
  });
  after(() => world.close());

  it('lets the right ones in: both schemes, and the host name however it is written', async () => {
    const basic = `Basic ${Buffer.from(`keeper:${password}`).toString('base64')}`;
    for (const Host of ['localhost', 'LOCALHOST', 'localhost.', 'localhost:8080'])
      for (const Authorization of [basic, world.authorization])
        assert.equal((await world.call('GET /v1/vault', { Host, Authorization })).status, 200);
  });

  runCases(declaredCases, () => world);
});
