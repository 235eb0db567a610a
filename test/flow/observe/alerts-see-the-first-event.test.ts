// `increase()` and `rate()` see an event only against a sample from before it: each series that an alert compares is there, at 0, before
// anything has happened. Gauges of a part that is not configured (certificates without TLS) are absent.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { parse } from 'yaml';
import { createWorkerMetrics } from '../../../gateway/observe/metrics/worker-metrics.ts';
import { STAGES } from '../../../gateway/stages.ts';
import { startGateway } from '../../support/gateway.ts';
import { thingsAt, thingsContract } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';

/** Without the parts that the test gateway lacks: TLS and a credential for its upstream. `up` is Prometheus' own. */
const notConfigured = new Set([
  'up',
  'gateway_certificate_expires_seconds',
  'gateway_certificate_lifetime_seconds',
  'gateway_certificate_missing',
  'gateway_certificate_order_failures',
  'gateway_upstream_credential_latched',
  'gateway_upstream_credential_missing',
]);

interface Selector {
  readonly metric: string;
  readonly matchers: readonly (readonly [label: string, wanted: RegExp])[];
}

/** The series that an expression selects. */
function selectorsIn(expr: string): Selector[] {
  const found = expr
    .replace(/\bby \([^)]*\)/g, '')
    .matchAll(/\b((?:gateway|http|nodejs|process)_\w+)(?:\{([^}]*)\})?/g);
  return [...found].map(([, metric = '', inside = '']) => ({
    metric,
    matchers: [...inside.matchAll(/(\w+)=~?"([^"]*)"/g)].map(
      ([, label = '', wanted = '']) => [label, new RegExp(`^(?:${wanted})$`)] as const,
    ),
  }));
}

/** Labels of the series of a metric. */
function seriesOf(text: string, metric: string): Record<string, string>[] {
  const lines = text.matchAll(new RegExp(`^${metric}(?:\\{(.*)\\})? \\S+$`, 'gm'));
  return [...lines].map(([, labels = '']) =>
    Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value])),
  );
}

const file = readFileSync(new URL('../../../deploy/prometheus/alerts.yaml', import.meta.url), 'utf8');
const rules: readonly { readonly alert: string; readonly expr: string }[] = parse(file).groups[0].rules;

function expressionOf(name: string): string {
  return rules.find(({ alert }) => alert === name)?.expr ?? assert.fail(name);
}

it('each series that an alert compares exists from the start', async (t) => {
  const upstream = await startUpstream();
  t.after(() => upstream.close());
  const gateway = await startGateway(thingsAt(upstream.url));
  t.after(() => gateway.stop());
  const ofGateway = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const text = ofGateway + (await createWorkerMetrics(() => 1).text());

  const missing = rules
    .map(({ expr }) => expr)
    .flatMap(selectorsIn)
    .filter(({ metric }) => !notConfigured.has(metric))
    .filter(
      ({ metric, matchers }) =>
        !seriesOf(text, metric).some((labels) => matchers.every(([label, wanted]) => wanted.test(labels[label] ?? ''))),
    );
  assert.deepEqual(missing, []);
  const stagesWithBugs = seriesOf(text, 'gateway_requests_rejected_total')
    .filter(({ code }) => code === 'internal_error')
    .map(({ stage }) => stage);
  assert.deepEqual(stagesWithBugs.sort(), STAGES.toSorted(), 'a bug may be in any stage');
  const checked = seriesOf(text, 'gateway_validation_failures_total').filter(
    ({ direction }) => direction === 'response',
  );
  const { paths } = thingsContract() as { paths: object };
  assert.deepEqual(new Set(checked.map(({ http_route }) => http_route)), new Set(Object.keys(paths)));
});

it('the alert of failed credentials counts an expired key, whose owner is known, like an unknown one', async (t) => {
  const upstream = await startUpstream();
  t.after(() => upstream.close());
  const gateway = await startGateway(thingsAt(upstream.url));
  t.after(() => gateway.stop());
  const { authorization } = await gateway.authorize({ expiresAtMs: 1 });
  assert.equal((await fetch(`${gateway.url}/v1/things`, { headers: { authorization } })).status, 401);
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const seen = seriesOf(text.replaceAll(/^.* 0$/gm, ''), 'gateway_requests_rejected_total');
  const [{ matchers } = assert.fail()] = selectorsIn(expressionOf('GatewayManyAuthenticationFailures'));
  assert.deepEqual(
    seen.map((labels) => [labels.code, matchers.every(([label, wanted]) => wanted.test(labels[label] ?? ''))]),
    [['api_key_expired', true]],
  );
});

it('the console shows no refusal and no request that has not happened', async (t) => {
  const upstream = await startUpstream();
  t.after(() => upstream.close());
  const gateway = await startGateway(thingsAt(upstream.url));
  t.after(() => gateway.stop());
  const { operations, refusals } = await gateway.app.operators.sample();
  assert.deepEqual([operations, refusals], [[], []]);
});
