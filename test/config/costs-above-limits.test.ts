// A cost above a limit is a mistake if no request passes, and a warning if some callers pass.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { environmentOf } from '../support/configuration.ts';
import { runInProcess } from '../support/in-process.ts';
import { type Files, sentencesFor, sound, spoiled, writeSound } from './faults.ts';

const LIMITS = 'config/limits.yaml';
const withLimits = (text: string) => ({ [LIMITS]: text });
const refused = (cost: number, id: string, limits: string) =>
  `a request of ${id} costs ${cost}, more than the limit ${limits}, so every request is refused, however long a client waits. Lower the cost, or set requests to ${cost} at least.`;

for (const [name, files, says] of [
  [
    'an extra limit',
    spoiled(LIMITS, '{ extra: slow }', '{ extra: slow, cost: 50 }'),
    `config/limits.yaml:6:35: operations.listItems.cost: ${refused(50, 'listItems', 'extra.slow (5)')}`,
  ],
  [
    'every tier',
    withLimits('tiers: { a: { requests: 6 }, b: { requests: 5 } }\noperations: { createItem: { cost: 7 } }\n'),
    `config/limits.yaml:2:35: operations.createItem.cost: ${refused(7, 'createItem', 'tiers.a (6), tiers.b (5)')}`,
  ],
  [
    'the tier of public operations',
    {
      ...spoiled(
        'openapi/items.yaml',
        'operationId: listItems',
        'operationId: listItems\n      security: []\n      x-gateway-public: true',
      ),
      ...withLimits(
        'tiers: { a: { requests: 9 }, anonymous: { requests: 2 } }\noperations: { listItems: { cost: 3 } }\n',
      ),
    },
    `config/limits.yaml:2:34: operations.listItems.cost: ${refused(3, 'listItems', 'tiers.anonymous (2)')}`,
  ],
  [
    'a limit, by the contract,',
    spoiled('openapi/items.yaml', '    post:', '    post:\n      x-gateway-cost: 101'),
    `openapi/items.yaml:10:23: paths./v1/items.post.x-gateway-cost: ${refused(101, 'createItem', 'tiers.standard (100)')}`,
  ],
  [
    'a limit, by the entry,',
    spoiled('config/upstreams.yaml', 'timeoutMs: 1000', 'cost: 6'),
    `config/upstreams.yaml:5:11: upstreams.items.cost: ${refused(6, 'listItems', 'extra.slow (5)')}`,
  ],
] as [string, Files, string][])
  test(`a cost above ${name} is a mistake`, async () => {
    assert.deepEqual(await sentencesFor({ files }), [says]);
  });

async function check(files: Files) {
  const directory = writeSound(files);
  const { code, stdout } = await runInProcess(['check'], { environment: environmentOf(directory) });
  rmSync(directory, { recursive: true });
  return { code, warnings: stdout.split('\n').filter((line) => line.includes(' costs ')) };
}

test('a cost above the limits of some callers is a warning that names them', async () => {
  const limits = sound[LIMITS].replace(
    'standard: { requests: 100 }',
    'standard: { requests: 100 }\n  small: { requests: 6 }\norganizations: { org_a: { requests: 5 } }',
  );
  const { code, warnings } = await check(withLimits(`${limits}  createItem: { cost: 7 }\n`));
  assert.equal(code, 0);
  assert.deepEqual(
    warnings.map((line) => line.replace(/^.*config/, 'config')),
    [
      'config/limits.yaml:9:23: operations.createItem.cost: a request of createItem costs 7, more than the limit tiers.small (6), organizations.org_a (5), so their requests are refused, however long a client waits. Lower the cost, or set requests to 7 at least.',
    ],
  );
});

test('a shadow limit, and the tier of public operations for others, refuse nothing', async () => {
  const limits = 'tiers: { a: { requests: 9 }, b: { requests: 1, enforce: false }, anonymous: { requests: 1 } }\n';
  const { code, warnings } = await check(withLimits(`${limits}operations: { createItem: { cost: 9 } }\n`));
  assert.deepEqual([code, warnings], [0, []]);
});
