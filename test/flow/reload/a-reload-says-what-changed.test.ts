// A reload says in audit log, log, `/status` and the marks of the console which keys changed, from what to what, and on which instance.

import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { after, before, it } from 'node:test';
import { runInProcess } from '../../support/in-process.ts';
import { thingsContract } from '../../support/things.ts';
import { createWorld, type World } from '../../support/world.ts';
import { saveAndReload, until } from './files.ts';

const BEFORE = { tiers: { standard: { requests: 200 } }, organizations: { org_big: { requests: 5 } } };
const AFTER = { addresses: { failures: 1_000_000 }, tiers: { standard: { requests: 350 } }, whenStoreIsAway: 'refuse' };
const CHANGES = [
  'limits.yaml tiers.standard.requests: 200 → 350',
  'limits.yaml organizations: {"org_big":{"requests":5}} → –',
  'limits.yaml whenStoreIsAway: – → refuse',
];

let world: World;
before(async () => {
  world = await createWorld({ limits: BEFORE });
});
after(() => world.close());

it('names each changed key with its values before and after', async () => {
  const { gateway } = world;
  const marks = async () => {
    const answer = await fetch(`${gateway.adminUrl}/console/feed`);
    const { events } = (await answer.json()) as { events: { kind: string; text: string }[] };
    return events.find(({ kind }) => kind === 'reload')?.text ?? '';
  };
  // A marker shows the difference of two looks.
  assert.equal(await marks(), '');
  await saveAndReload(gateway, 'config/limits.yaml', AFTER);
  const [row] = await gateway.store.audit.list({ limit: 1 });
  assert.deepEqual(
    [row?.kind, row?.details.outcome, row?.details.changes],
    ['configuration.changed', 'applied', CHANGES],
  );
  assert.match(String(row?.details.instance), new RegExp(`^${hostname()}:\\S`));
  const line = gateway.logLines().find(({ msg }) => msg === 'the configuration was loaded anew');
  assert.deepEqual(line?.changes, CHANGES);
  const { stdout } = await runInProcess(['audit', '--limit', '1'], {
    environment: { GATEWAY_DATA: gateway.dataDirectory, ADMIN_PORT: String(gateway.app.adminPort) },
  });
  assert.match(stdout, /changes=\[limits\.yaml tiers\.standard\.requests: 200 → 350; /);
  await until(async () => (await marks()) !== '');
  assert.match(
    await marks(),
    /^The configuration \w+ was loaded: limits\.yaml tiers\.standard\.requests: 200 → 350, .+, and 1 more\.$/,
  );
});

it('names the changes of a contract for clients, breaking changes first', async () => {
  const { gateway } = world;
  type Contract = { paths: Record<string, Record<string, { parameters?: { required?: boolean }[] }>> };
  const contract = thingsContract() as Contract;
  const { get } = contract.paths['/v1/things'] ?? {};
  assert.ok(get?.parameters?.[0]);
  contract.paths['/v1/more'] = { get: { ...get, operationId: 'listMore' } as object };
  contract.paths['/v1/things'] = { ...contract.paths['/v1/things'], get: structuredClone(get) };
  const [parameter] = contract.paths['/v1/things']?.get?.parameters ?? [];
  Object.assign(parameter ?? {}, { required: true });
  await saveAndReload(gateway, 'openapi/things.yaml', contract);
  const [row] = await gateway.store.audit.list({ limit: 1 });
  assert.deepEqual(row?.details.changes, [
    'breaking: GET /v1/things: query parameter "q": it is required now',
    'additive: GET /v1/more: the operation is new',
  ]);
  const line = gateway.logLines().findLast(({ msg }) => msg === 'the configuration was loaded anew');
  assert.deepEqual(line?.changes, row?.details.changes);
});

it('names no unchanged contract', async () => {
  const { gateway } = world;
  await saveAndReload(gateway, 'config/limits.yaml', { ...AFTER, whenStoreIsAway: 'local' });
  const [row] = await gateway.store.audit.list({ limit: 1 });
  assert.deepEqual(row?.details.changes, ['limits.yaml whenStoreIsAway: refuse → local']);
});
