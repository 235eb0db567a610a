// The size of `/metrics` that `check` names is near the real one.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Operation } from '../../../gateway/exchange/operation.ts';
import { Trail } from '../../../gateway/exchange/trail.ts';
import { createMetrics } from '../../../gateway/observe/metrics/metrics.ts';
import { metricsBytesOf } from '../../../gateway/observe/metrics/route-series.ts';

const operations = Array.from({ length: 60 }, (_, index) => {
  const path = `/v1/${'customers/'.repeat(index % 5)}${index}/{id}`;
  return { id: `o${index}`, method: 'GET', path, upstream: 'u', entry: 'u', version: 'v1' } as Operation;
});

for (const [kept, operationsMax] of [
  ['operation', 60],
  ['entry', 59],
] as const) {
  it(`by ${kept}`, async () => {
    const metrics = createMetrics({ version: '1', onPressure: () => undefined });
    metrics.expect(operations, operationsMax);
    const before = (await metrics.text()).length;
    for (const status of [201, 301, 404, 500])
      for (const operation of operations)
        for (let count = 0; count < 20; count += 1)
          metrics.countExchange(Object.assign(new Trail('req_1', 'GET'), { operation, status }));
    const bytes = (await metrics.text()).length - before;
    const told = metricsBytesOf(operations, operationsMax);
    assert.ok(Math.abs(told - bytes) < bytes * 0.15, `${told} told, ${bytes} made`);
  });
}

it('grows with the operations up to the setting only', () => {
  const many = Array.from({ length: 2000 }, (_, index) => ({ ...(operations[0] as Operation), path: `/p${index}` }));
  assert.ok(metricsBytesOf(many, 2000) > 10 * 2 ** 20);
  assert.ok(metricsBytesOf(many, 200) < 20_000);
  assert.equal(metricsBytesOf([], 0), 0);
});
