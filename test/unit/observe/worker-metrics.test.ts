// Metrics of several workers as those of one gateway: sums that never fall, gauges with a meaning, metrics of a process labelled by it.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Registry } from '@prometheus-io/client';
import { Trail } from '../../../gateway/exchange/trail.ts';
import { createMetrics } from '../../../gateway/observe/metrics/metrics.ts';
import { createWorkerMetrics, type MetricSnapshot } from '../../../gateway/observe/metrics/worker-metrics.ts';

interface State {
  readonly active: number;
  readonly keyStoreAway: number;
  readonly loadedAtMs: number;
}

function metricsOf({ active, keyStoreAway, loadedAtMs }: State) {
  const metrics = createMetrics({ version: '1.2.3', onPressure: () => undefined });
  metrics.watch({
    requestsInProgress: () => active,
    keyStoreAway: () => keyStoreAway,
    limitStoreAway: () => 0,
    limitPolicyInForce: () => undefined,
    tunnelStreams: () => 0,
    openStreams: () => ({ events: 0, lines: 0, websocket: 0 }),
    certificates: () => [],
    usageWaiting: () => 0,
    bufferedBytes: () => 0,
    upstreamStates: () => ({ books: { in_flight: active, credential: keyStoreAway ? 'latched' : 'proven' } }),
    targetStates: () => ({
      books: {
        targets: [
          { mode: 'live', address: 'http://a', state: keyStoreAway ? 'ejected' : 'healthy', outstanding: active },
        ],
        breaker: { live: keyStoreAway ? 'open' : 'half_open' },
      },
    }),
    configurationLoadedAtMs: () => loadedAtMs,
  });
  return metrics;
}

/** As it arrives from another process. */
async function sent(metrics: ReturnType<typeof metricsOf>): Promise<MetricSnapshot[]> {
  return JSON.parse(JSON.stringify(await metrics.snapshot()));
}

const valuesOf = (text: string, series: string) =>
  text.split('\n').flatMap((line) => (line.startsWith(`${series} `) ? [Number(line.slice(series.length))] : []));
const unmatched =
  'http_server_request_duration_seconds_count{http_request_method="_OTHER",http_route="unmatched",http_response_status_code="404",api_version=""}';

it('adds up counters, and combines each gauge by its meaning', async () => {
  const all = createWorkerMetrics(() => 2);
  const [one, other] = [
    metricsOf({ active: 3, keyStoreAway: 0, loadedAtMs: 5000 }),
    metricsOf({ active: 4, keyStoreAway: 1, loadedAtMs: 9000 }),
  ];
  for (const metrics of [one, one, other]) metrics.countExchange(createTrail404());
  all.of(1).note(await sent(one));
  all.of(2).note(await sent(other));
  const text = await all.text();
  assert.deepEqual(valuesOf(text, unmatched), [3]);
  assert.deepEqual(valuesOf(text, 'http_server_active_requests'), [7]);
  assert.deepEqual(valuesOf(text, 'gateway_upstream_in_flight{upstream="books"}'), [7]);
  assert.deepEqual(valuesOf(text, 'gateway_key_store_away'), [1]);
  assert.deepEqual(valuesOf(text, 'gateway_upstream_credential_latched{upstream="books"}'), [1]);
  const target = '{upstream="books",mode="live",target="http://a"}';
  assert.deepEqual(valuesOf(text, `gateway_upstream_target_up${target}`), [0]);
  assert.deepEqual(valuesOf(text, `gateway_upstream_target_outstanding${target}`), [7]);
  assert.deepEqual(valuesOf(text, 'gateway_upstream_breaker_state{upstream="books",mode="live"}'), [2]);
  assert.deepEqual(valuesOf(text, 'gateway_configuration_loaded_timestamp_seconds'), [5]);
  assert.deepEqual(valuesOf(text, 'gateway_build_info{version="1.2.3"}'), [1]);
  assert.deepEqual(valuesOf(text, 'gateway_workers_serving'), [2]);
});

it('labels metrics of a process by it, and never adds them up', async () => {
  const all = createWorkerMetrics(() => 2);
  for (const number of [1, 2])
    all.of(number).note(await sent(metricsOf({ active: 0, keyStoreAway: 0, loadedAtMs: 0 })));
  const text = await all.text();
  const workers = [...text.matchAll(/^process_resident_memory_bytes\{worker="(\w+)"\}/gm)].map(([, worker]) => worker);
  assert.deepEqual(workers.sort(), ['1', '2', 'primary']);
  assert.doesNotMatch(text, /^(process|nodejs)_[a-z_]+ /m);
  assert.match(text, /^process_start_time_seconds\{worker="1"\}/m);
  assert.doesNotMatch(text, / (null|undefined|Nan|NaN)$/m);
});

it('keeps the counts of an ended worker, and forgets its gauges', async () => {
  const all = createWorkerMetrics(() => 1);
  for (let generation = 1; generation <= 3; generation += 1) {
    const metrics = metricsOf({ active: 5, keyStoreAway: 1, loadedAtMs: 0 });
    metrics.countExchange(createTrail404());
    const worker = all.of(1);
    worker.note(await sent(metrics));
    assert.deepEqual(valuesOf(await all.text(), unmatched), [generation]);
    await worker.end();
    const text = await all.text();
    assert.deepEqual(valuesOf(text, unmatched), [generation]);
    assert.deepEqual(valuesOf(text, 'gateway_key_store_away'), []);
    // A late sample is counted already.
    worker.note(await sent(metrics));
    assert.deepEqual(valuesOf(await all.text(), unmatched), [generation]);
  }
});

it('counts the workers that had to be replaced, from zero', async () => {
  const all = createWorkerMetrics(() => 0);
  assert.deepEqual(valuesOf(await all.text(), 'gateway_worker_restarts_total'), [0]);
  all.restarted();
  all.restarted();
  assert.deepEqual(valuesOf(await all.text(), 'gateway_worker_restarts_total'), [2]);
});

function createTrail404() {
  return Object.assign(new Trail('req_1', '_OTHER'), { status: 404 });
}

it('the metrics of the process are collected once in it, for any number of gateways', () => {
  const [first, second] = [new Registry(), new Registry()];
  createWorkerMetrics(() => 1, first);
  createMetrics({ registry: second, version: 'test', onPressure: () => undefined });
  for (const name of [
    'process_cpu_seconds_total',
    'nodejs_eventloop_utilization_summary',
    'nodejs_gc_duration_seconds',
  ]) {
    assert.ok(first.getSingleMetric(name) !== undefined, name);
    assert.equal(first.getSingleMetric(name), second.getSingleMetric(name));
  }
});
