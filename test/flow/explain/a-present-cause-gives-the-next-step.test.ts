// The next step after a refusal is that of the cause which makes the gateway refuse: while the key store is empty, no client can correct
// its key.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { OperatorReport } from '../../../gateway/explain/report.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askWith, eventually, type Instances, startInstances } from '../../support/instances.ts';
import { apartAt, startRedis, type TestRedis, wipe } from '../../support/redis.ts';
import { explainer } from './explained.ts';

const EMPTY = /^The key store in Redis .* is empty: it was wiped, or came back without its data\.$/;

let redis: TestRedis;
let url: string;
let instances: Instances;
let gateway: TestGateway;
before(async () => {
  redis = await startRedis();
  url = apartAt(redis.url);
  instances = await startInstances([url], { limits: { addresses: { failures: 20 } } });
  gateway = instances.gateways[0] as TestGateway;
});
after(async () => {
  await instances.close();
  await redis.stop();
});

async function refusedId(key: string): Promise<string> {
  const { status, headers } = await askWith(key, gateway);
  assert.equal(status, 401);
  return String(headers['x-request-id']);
}

/** Wipes the key store, and waits until the gateway has noticed it. */
async function loseKeys(): Promise<void> {
  await wipe(url);
  await eventually(async () => {
    const { causes } = (await (await fetch(`${gateway.adminUrl}/causes`)).json()) as { causes: { id: string }[] };
    return causes.some(({ id }) => id === 'keys lost');
  });
}

it('is the remedy of the client while the key store is well', async () => {
  const { key } = await gateway.issueKey();
  const id = await refusedId(`${key}x`);
  const [story] = await explainer(gateway).stories(id);
  assert.match(story?.next?.client ?? '', /key/);
  assert.equal(story?.next?.cause, undefined);
});

it('is the import of keys while the key store is empty, on the command line and in the console', async () => {
  const { key } = await gateway.issueKey();
  await loseKeys();
  const id = await refusedId(key);
  const { run, stories } = explainer(gateway);
  const [story] = await stories(id);
  const { cause, ...steps } = story?.next ?? assert.fail('no next step');
  assert.match(cause ?? '', EMPTY);
  assert.deepEqual(steps, { commands: ['bin/gateway keys import keys.jsonl'], runbook: 'GatewayKeyStoreEmpty' });
  const { out } = await run(id);
  assert.match(
    out,
    /^Now: {2}The key store in Redis .* is empty: .*\nNext: bin\/gateway keys import keys\.jsonl\n {6}runbook GatewayKeyStoreEmpty in docs\/operations\.md$/m,
  );
  const shown = await fetch(`${gateway.adminUrl}/console/exchanges/${id}`);
  const { exchanges } = (await shown.json()) as { exchanges: OperatorReport[] };
  assert.deepEqual(exchanges[0]?.next, story?.next);
});

it('is the same for an address that has failed too often', async () => {
  const { key } = await gateway.issueKey();
  const { stories } = explainer(gateway);
  const blocked = async () => {
    await eventually(async () => (await fetch(`${gateway.url}/v1/nothing`)).status === 429);
    const { status, headers } = await askWith(`${key}x`, gateway);
    assert.equal(status, 429);
    const [story] = await stories(String(headers['x-request-id']));
    return story?.next;
  };
  assert.match((await blocked())?.client ?? '', /^Stop sending what is refused/);
  await loseKeys();
  const next = await blocked();
  assert.match(next?.cause ?? '', EMPTY);
  assert.deepEqual(next?.commands, ['bin/gateway keys import keys.jsonl']);
});
