// docs/metrics.md lists every metric that a running gateway has, with type and labels, and no other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkerMetrics } from '../../gateway/observe/worker-metrics.ts';
import { documentedMetrics } from '../support/documented-metrics.ts';
import { startGateway } from '../support/gateway.ts';
import { thingsAt } from '../support/things.ts';
import { startUpstream } from '../support/upstream.ts';

const ADVICE =
  'A metric was added, renamed or removed: write it into the table of docs/metrics.md (name, type, labels, meaning).';

const typesIn = (text: string) =>
  [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type] as const);

/** Names of labels that series have, other than those that every histogram and every worker has. */
function* labelsIn(text: string): Generator<readonly [metric: string, label: string]> {
  for (const [, series = '', labels = ''] of text.matchAll(/^(\w+)\{(.*)\} \S+$/gm)) {
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) {
      if (!['le', 'quantile', 'worker'].includes(label)) yield [series, label];
    }
  }
}

test('every metric is documented with its type and its labels', async () => {
  const upstream = await startUpstream();
  const gateway = await startGateway({ ...thingsAt(upstream.url), limits: { tiers: { standard: { requests: 1 } } } });
  const headers = await gateway.authorize();
  for (const path of ['/v1/things', '/v1/things', '/v1/nothing', '/v1/things?x=1'])
    await fetch(gateway.url + path, { headers });
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  await gateway.stop();
  await upstream.close();
  const ofWorkers = await createWorkerMetrics(() => 1).text();

  const documented = documentedMetrics();
  const exposed = new Map([...typesIn(text), ...typesIn(ofWorkers)]);
  assert.deepEqual([...exposed.keys()].sort(), [...documented.keys()].sort(), ADVICE);
  for (const [name, type] of exposed) assert.equal(documented.get(name)?.type, type, `type of ${name}. ${ADVICE}`);
  for (const [series, label] of labelsIn(text)) {
    const name = exposed.has(series) ? series : series.replace(/_(bucket|sum|count)$/, '');
    assert.ok(documented.get(name)?.labels.includes(label), `label ${label} of ${name}. ${ADVICE}`);
  }
});
