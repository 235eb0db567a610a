// A published webhook is a promise to its receivers: check refuses a contract that no longer sends it, unless an entry accepts the change.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { thingsContract } from '../../support/things.ts';
import { commandLine } from '../commands/command-line.ts';

const entry = { contracts: ['things.json'], live: 'http://127.0.0.1:9' };
const payload = (properties: object) => ({
  post: {
    requestBody: { content: { 'application/json': { schema: { type: 'object', properties } } } },
    responses: { 200: { description: 'received' } },
  },
});
const text = { type: 'string' };

test('a published webhook', async (t) => {
  const directory = temporaryDirectory();
  const { run } = commandLine(join(directory, 'data'), environmentOf(directory));
  const write = (webhooks: object, breaking: readonly object[] = []) => {
    const contract = { ...thingsContract(), openapi: '3.1.1', webhooks };
    const gateway = { publishedContracts: 'published' };
    writeConfiguration(directory, { gateway, upstreams: { things: entry }, contracts: { 'things.json': contract } });
    writeFileSync(join(directory, 'config/upstreams.yaml'), JSON.stringify({ upstreams: { things: entry }, breaking }));
  };
  write({ thingChanged: payload({ id: text, size: text }) });
  assert.equal((await run('contract', 'publish')).code, 0);

  await t.test('breaks its receivers by a payload that lacks a member', async () => {
    write({ thingChanged: payload({ id: text }) });
    assert.match(
      (await run('check')).err,
      /things\.json:\d+:\d+: .*webhook thingChanged breaks what was published \(response-property-removed\): payload application\/json\/size: the property was removed\. .*\{ operation: thingChanged, rule: response-property-removed,/,
    );
  });

  await t.test('breaks its receivers when it is removed, unless an entry accepts it', async () => {
    write({});
    assert.match((await run('contract', 'diff')).out, /breaking: webhook thingChanged: the webhook was removed/);
    assert.match((await run('check')).err, /webhook thingChanged breaks what was published \(webhook-removed\)/);
    const until = '2999-01-01';
    const reason = 'No receiver is left.';
    write({}, [{ operation: 'thingChanged', rule: 'webhook-removed', until, reason }]);
    const accepted = await run('check');
    assert.equal(accepted.code, 0, accepted.err);
    assert.doesNotMatch(accepted.out, /is not needed/);
  });

  await t.test('is listed among the changes when more of it is published', async () => {
    write({ thingChanged: payload({ id: text, size: text, colour: text }), thingRemoved: payload({ id: text }) });
    const { code, out, err } = await run('contract', 'publish');
    assert.equal(code, 0, err);
    assert.match(out, /additive: webhook thingChanged: payload application\/json\/colour: the property is new/);
    assert.match(out, /additive: webhook thingRemoved: the webhook is new/);
  });
});
