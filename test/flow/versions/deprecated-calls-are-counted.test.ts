// Calls of deprecated operations are counted while the gateway serves, and shown by commands and on the admin listener.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { createTwoVersions, NOW_MS } from '../../support/versions.ts';
import type { World } from '../../support/world.ts';
import { PEPPER } from '../../unit/auth/samples.ts';
import { commandLine } from '../commands/command-line.ts';

interface Report {
  readonly operations: readonly { readonly operation: string; readonly state: string }[];
  readonly organizations: readonly { readonly organization: string; readonly calls: number }[];
  readonly notices: readonly { readonly organization: string; readonly text: string }[];
}

describe('calls of deprecated operations', () => {
  let world: World;
  const directory = temporaryDirectory();
  const data = join(directory, 'data');

  before(async () => {
    world = await createTwoVersions({ dataDirectory: data, environment: { KEY_PEPPER: PEPPER } });
    await world.gateway.store.organizations.create(
      {
        id: 'org_told',
        name: 'Told',
        tier: 'standard',
        state: 'active',
        contacts: ['dev@told.example'],
        operator: false,
      },
      'test',
    );
    const told = await world.gateway.authorize({ organization: 'org_told' });
    for (let count = 0; count < 3; count += 1)
      await world.call('GET /v1/things', { Authorization: told.authorization });
    await world.call('GET /v1/things/t1');
    await world.call('GET /v2/things');
    await world.call('GET /v1/things', { Authorization: undefined });
    await world.call('POST /v1/orders', { 'Content-Type': 'application/json' }, '{}');
  });
  after(async () => {
    await world.close();
    rmSync(world.gateway.directory, { recursive: true, force: true });
  });

  it('are on the admin listener, with the notices that follow from them', async () => {
    const answer = await fetch(`${world.gateway.adminUrl}/versions`);
    const { operations, organizations, notices } = (await answer.json()) as Report;
    assert.equal(operations.find(({ operation }) => operation === 'listThings')?.state, 'deprecated');
    assert.equal(operations.find(({ operation }) => operation === 'placeOrder')?.state, 'ended');
    assert.deepEqual(
      organizations.map(({ organization, calls }) => [organization, calls]),
      [
        ['org_told', 3],
        ['org_test', 1],
      ],
      'only of accepted callers, and only of deprecated operations',
    );
    assert.match(notices[0]?.text ?? '', /GET \/v1\/things\n.*\n.*followed by v2\n {4}3 calls/);
  });

  it('are in /status', async () => {
    const status = (await (await fetch(`${world.gateway.adminUrl}/status`)).json()) as { deprecated_uses: object };
    assert.deepEqual(status.deprecated_uses, { state: 'up', waiting: 0, lost: 0 });
  });

  function lineOn() {
    const environment = {
      GATEWAY_CONFIG: join(world.gateway.directory, 'config'),
      GATEWAY_CONTRACTS: join(world.gateway.directory, 'openapi'),
      GATEWAY_DATA: data,
    };
    const line = commandLine(data, environment);
    line.clock.nowMs = NOW_MS;
    return line;
  }

  it('are listed by a command, and written as mail', async () => {
    const { json, run } = lineOn();
    const [told] = await json('versions', 'usage', '--since', '30d');
    assert.deepEqual(
      [told.organization, told.name, told.contacts, told.calls],
      ['org_told', 'Told', ['dev@told.example'], 3],
    );
    assert.equal(told.operations[0].sunset, '2028-01-17');
    const out = join(directory, 'notices');
    const written = await run('versions', 'usage', '--notices', out, '--mbox', join(directory, 'all.mbox'));
    assert.equal(written.code, 0);
    assert.match(written.out, /org_told {6}Told {6}listThings {2}2028-01-17 {2}3/);
    assert.match(written.out, /Wrote 1 notice\.\n$/);
    assert.equal(written.err, 'org_test has no contacts: tell it in another way.\n');
    assert.deepEqual(readdirSync(out), ['org_told.eml']);
    assert.match(readFileSync(join(out, 'org_told.eml'), 'utf8'), /^To: dev@told\.example\r$/m);
    assert.match(readFileSync(join(directory, 'all.mbox'), 'utf8'), /^From noreply@localhost /);
  });

  it('are not shown for wrong options', async () => {
    const { run } = lineOn();
    for (const words of [
      ['--since', 'yesterday'],
      ['--from', 'a b'],
    ]) {
      assert.equal((await run('versions', 'usage', ...words)).code, 2);
    }
  });

  it('belong to versions that a command lists', async () => {
    const { json, run } = lineOn();
    const { versions, operations } = await json('versions', 'list');
    assert.deepEqual(
      versions.map(({ version, state }: Record<string, string>) => [version, state]),
      [
        ['v1', 'deprecated'],
        ['v2', 'current'],
      ],
    );
    assert.deepEqual([operations[0].operation, operations[0].state], ['placeOrder', 'ended']);
    assert.match((await run('versions', 'list')).out, /^v1 +deprecated +2027-01-15 +2028-01-17 +v2 /m);
  });
});
