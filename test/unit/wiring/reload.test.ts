// What a reload says of a failure that is no mistake in the files.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Configuration } from '../../../gateway/configuration.ts';
import type { Log } from '../../../gateway/observe/log/log.ts';
import { Reloads } from '../../../gateway/wiring/reload.ts';
import { temporaryDirectory } from '../../support/directory.ts';

test('a reload that fails by a bug is logged with the place of the bug, and is no mistake of the files', async (t) => {
  const directory = temporaryDirectory();
  const logged: [object, string][] = [];
  const logger = { error: (members: object, message: string) => logged.push([members, message]) };
  const inForce = { version: 'one', files: new Map() } as unknown as Configuration;
  const reloads = new Reloads({
    directories: [directory],
    secretsDirectory: undefined,
    log: { logger } as unknown as Log,
    store: { audit: { append: async () => undefined } } as never,
    instance: 'host:8080',
    now: Date.now,
    inForce: () => inForce,
    load: () => Promise.reject(new TypeError('of a part')),
    check: () => [],
    apply: () => assert.fail('nothing was loaded'),
    onOutcome: (outcome) => assert.equal(outcome, 'refused'),
  });
  t.after(() => reloads.stop());
  await reloads.reload();
  const [[members, message] = [{}, '']] = logged;
  assert.equal(message, 'the configuration could not be put in force; the one before stays in force');
  assert.match(String((members as { cause?: unknown }).cause), /^TypeError: of a part\n +at .*reload\.test\.ts/);
  assert.deepEqual(reloads.status().last_failure?.mistakes, [
    'The configuration could not be put in force: of a part.',
  ]);
});

test('a reload is in force, and says so, although its contracts cannot be compared with those before', async (t) => {
  const source = { value: {} };
  const config = { gateway: { limits: {} }, sources: { gateway: source, upstreams: source, limits: source } };
  const configurationOf = (version: string) =>
    ({ version, config, files: new Map(), contracts: { operations: [{ version }] } }) as unknown as Configuration;
  const outcomes: string[] = [];
  let inForce = configurationOf('one');
  const reloads = new Reloads({
    directories: [temporaryDirectory()],
    secretsDirectory: undefined,
    log: { logger: { info() {}, error() {} } } as unknown as Log,
    store: { audit: { append: async () => undefined } } as never,
    instance: 'host:8080',
    now: Date.now,
    inForce: () => inForce,
    load: async () => configurationOf('two'),
    check: () => [],
    apply(next) {
      inForce = next;
    },
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  t.after(() => reloads.stop());
  await reloads.reload();
  const { version, last_failure, changes } = reloads.status();
  assert.deepEqual([outcomes, version, last_failure], [['applied'], 'two', null]);
  assert.match(changes.join(), /^the contracts could not be compared with those before: /);
});
