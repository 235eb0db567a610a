// Rules, credentials and host names that an operator declares end in the same error object as everything else.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { runCases } from '../../support/errors.ts';
import { createWorldWith, type World } from '../../support/world.ts';
import { declaredCases, declaredOptions } from './declared.cases.ts';

describe('a declaration', () => {
  const password = randomBytes(12).toString('hex');
  let world: World;
  before(async () => {
    world = await createWorldWith((url) => declaredOptions(url, password));
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
