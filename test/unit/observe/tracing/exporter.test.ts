// The queue in front of a collector is bounded, batches are, and dropped spans are counted.

import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { Exporter } from '../../../../gateway/observe/tracing/exporter.ts';
import type { Span } from '../../../../gateway/observe/tracing/spans.ts';
import { startCollector } from '../../../support/collector.ts';

const span: Span = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  name: 'GET',
  kind: 2,
  startTimeUnixNano: '1795190400000000000',
  endTimeUnixNano: '1795190400000001000',
  attributes: [],
};

async function exporterTo(test: TestContext, collector: Awaited<ReturnType<typeof startCollector>>, deliveryMs = 2000) {
  const outcomes = { exported: 0, dropped: 0 };
  const health: (string | undefined)[] = [];
  const exporter = new Exporter({
    endpoint: collector.endpoint,
    headers: {},
    resource: [],
    version: 'test',
    batchMs: 5,
    deliveryMs,
    onOutcome: (outcome, spans) => {
      outcomes[outcome] += spans;
    },
    onHealth: (reason) => health.push(reason),
  });
  test.after(async () => {
    await exporter.close();
    await collector.close();
  });
  return { exporter, outcomes, health };
}

const many = (count: number) => Array.from({ length: count }, () => span);

it('holds at most 2048 spans while one batch is in progress', async (test) => {
  const answers: (() => void)[] = [];
  const collector = await startCollector((response) => answers.push(() => response.end('{}')));
  const { exporter, outcomes } = await exporterTo(test, collector);
  exporter.add(many(512));
  await collector.arrived(512);
  for (let added = 0; added < 2048; added += 256) exporter.add(many(256));
  exporter.add([span, span]);
  assert.deepEqual(outcomes, { exported: 0, dropped: 2 });
  while (outcomes.exported < 512 + 2048) {
    answers.shift()?.();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.equal(collector.spans.length, 512 + 2048);
  assert.equal(collector.headers.length, 5, 'batches of 512');
});

it('gives a collector up that does not answer in time, and reports when it is back', async (test) => {
  let answers = false;
  const collector = await startCollector((response) => (answers ? response.end('{}') : undefined));
  const { exporter, outcomes, health } = await exporterTo(test, collector, 30);
  exporter.add([span]);
  while (outcomes.dropped < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  answers = true;
  // One delivery may be late, on a machine that is busy.
  while (outcomes.exported < 1) {
    exporter.add([span]);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.deepEqual(health, ['no answer in time', undefined]);
});

it('takes nothing any more once it is closed', async (test) => {
  const collector = await startCollector();
  const { exporter, outcomes } = await exporterTo(test, collector);
  exporter.add([span]);
  await exporter.close();
  exporter.add([span]);
  assert.deepEqual(outcomes, { exported: 1, dropped: 1 });
});
