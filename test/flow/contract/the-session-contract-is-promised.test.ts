// The contract of sessions is published like the other ones that the gateway brings. It is compared where sessions are configured: others
// do not serve its operations.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import { loadSettings } from '../../../gateway/config/settings.ts';
import { loadConfiguration } from '../../../gateway/configuration.ts';
import { ConfigError } from '../../../gateway/shared/mistakes.ts';
import { type ConfigurationOptions, environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { shippedContracts } from '../../support/gateway.ts';
import { SESSION_ENTRY } from '../../support/sessions.ts';
import { thingsAt } from '../../support/things.ts';

const shipped = (file: string) => readFileSync(join(shippedContracts, file), 'utf8');
const published = { 'published/session.json': shipped('published/session.json') };
const session = parse(shipped('session/session.yaml'));
const staff = {
  issuer: 'https://login.example.com',
  clientId: 'gateway',
  authentication: { method: 'client_secret_basic', secret: 'session_client' },
  organization: { id: 'org_example' },
};
const sessions = { providers: { staff } };

async function check(options: ConfigurationOptions, gateway: object = {}) {
  const directory = temporaryDirectory();
  const contracts = { ...published, ...options.contracts };
  writeConfiguration(directory, { ...options, contracts, gateway: { publishedContracts: 'published', ...gateway } });
  const environment = environmentOf(directory);
  return loadConfiguration(loadSettings(environment), environment, 'check');
}

const withSessions = (contract: object) =>
  check({ upstreams: SESSION_ENTRY, contracts: { 'session/session.yaml': contract } }, { sessions });

it('the shipped contract keeps what was published', async () => {
  const { breakingChanges, contracts } = await withSessions(session);
  assert.deepEqual([breakingChanges.unpublished, breakingChanges.unused], [[], []]);
  const promised = breakingChanges.promised.map((promise) => promise.content([])?.operations.length);
  assert.deepEqual(promised, [contracts.operations.length]);
});

it('a contract without one of its operations is refused', async () => {
  const { '/session': _, ...paths } = session.paths;
  await assert.rejects(withSessions({ ...session, paths }), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.deepEqual(
      error.mistakes.map(({ reason }) => /^.*\)/.exec(reason)?.[0]),
      ['GET /session breaks what was published (operation-removed)'],
    );
    return true;
  });
});

it('a gateway without sessions serves none of them, and that breaks nothing', async () => {
  const { contracts, upstreams } = thingsAt('http://127.0.0.1:9');
  const { breakingChanges } = await check({ contracts, upstreams });
  assert.deepEqual(breakingChanges.unpublished, ['v1']);
});
