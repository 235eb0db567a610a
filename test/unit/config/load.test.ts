import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../../gateway/config/settings.ts';
import { loadConfiguration } from '../../../gateway/configuration.ts';
import { ConfigError } from '../../../gateway/shared/mistakes.ts';
import { writeSound } from '../../config/faults.ts';
import { environmentOf } from '../../support/configuration.ts';

test('without variables everything has its documented place', () => {
  const { configDirectory, contractsDirectory, dataDirectory, ...rest } = loadSettings({});
  // Settings without a default are undefined, and JSON leaves them out.
  assert.deepEqual(JSON.parse(JSON.stringify(rest)), {
    host: '0.0.0.0',
    port: 8080,
    adminHost: '127.0.0.1',
    adminPort: 9090,
    workers: 1,
    acceptOneWay: false,
  });
  for (const directory of [configDirectory, contractsDirectory, dataDirectory]) assert.ok(isAbsolute(directory));
});

test('an empty variable is an unset one', () => {
  const empty = { HOST: '', PORT: '', ADMIN_PORT: '', REDIS_URL: '', GATEWAY_CONFIG: '', SECRETS_DIR: '' };
  assert.deepEqual(loadSettings(empty), loadSettings({}));
});

test('a port is 0 to 65535', () => {
  assert.equal(loadSettings({ PORT: '0' }).port, 0);
  assert.equal(loadSettings({ PORT: '65535' }).port, 65_535);
  for (const PORT of ['-1', '65536', '8080 ', '1e3', '0x50']) assert.throws(() => loadSettings({ PORT }), ConfigError);
});

test('a configuration cannot be changed once it is loaded', async () => {
  const directory = writeSound({});
  const environment = environmentOf(directory);
  const { config } = await loadConfiguration(loadSettings(environment), environment);
  rmSync(directory, { recursive: true });
  assert.throws(() => Object.assign(config.limits.tiers.standard ?? {}, { requests: 1 }), TypeError);
  assert.throws(() => Object.assign(config.upstreams.items ?? {}, { live: [] }), TypeError);
  assert.equal(config.sources.limits.file, join(directory, 'config/limits.yaml'));
});
