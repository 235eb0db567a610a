// Every metric and label in the dashboard and the alert rules exists: metrics and labels by docs/metrics.md, codes and stages by the
// catalogue.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { REFUSALS } from '../../gateway/catalogue/errors.ts';
import { documentedMetrics } from '../support/documented-metrics.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

const fileAt = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(fileAt(path), 'utf8');
const dashboard = JSON.parse(read('deploy/grafana/gateway.json'));
const rules: readonly Rule[] = parse(read('deploy/prometheus/alerts.yaml')).groups.flatMap(
  (group: { rules: readonly Rule[] }) => group.rules,
);
const documented = documentedMetrics();

/** Labels that Prometheus adds, that every histogram has, and that several workers have. */
const everywhere = ['job', 'instance', 'le', 'worker'];
const ofPrometheus = ['up'];
const words = new Set(
  'sum by max min topk rate increase histogram_quantile time changes label_values and or unless on ignoring'.split(' '),
);

/** The names in an expression: its metrics, and all labels, in selectors and groupings. */
function askedIn(expr: string) {
  const selectors = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inside = '']) => [
    ...inside.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g),
  ]);
  const groupings = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
  const bare = expr
    .replace(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, '')
    .replace(/\bby \([^)]*\)/g, '')
    .replace(/\b\d[\w.]*/g, '');
  const metrics = [...bare.matchAll(/[a-z_:][\w:]*/gi)].map(([name]) => name).filter((name) => !words.has(name));
  return { metrics, selectors: selectors.map(([, label = '', , value = '']) => ({ label, value })), groupings };
}

function metricNamed(name: string): string {
  return documented.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
}

function check(expr: string): void {
  const { metrics, selectors, groupings } = askedIn(expr);
  assert.ok(metrics.length > 0, `no metric in ${expr}`);
  const known = metrics.filter((name) => !ofPrometheus.includes(name));
  for (const name of known) {
    const metric = documented.get(metricNamed(name));
    assert.ok(metric, `${name}, of ${expr}, is no metric`);
    assert.equal(/_(bucket|sum|count)$/.test(name) && !documented.has(name), metric.type === 'histogram', expr);
  }
  const labels = new Set([...everywhere, ...known.flatMap((name) => documented.get(metricNamed(name))?.labels ?? [])]);
  for (const label of [...groupings, ...selectors.map((one) => one.label)])
    assert.ok(labels.has(label), `label ${label} of ${expr}`);
  for (const { label, value } of selectors) {
    // Each of the alternatives selects a code, so that none is misspelt.
    const codes = label === 'code' ? value.split('|').map((one) => new RegExp(`^${one}$`)) : [];
    for (const code of codes)
      assert.ok(
        Object.keys(REFUSALS).some((one) => code.test(one)),
        `code ${code}`,
      );
  }
}

describe('the dashboard', () => {
  const panels: { title: string; targets?: { expr: string; legendFormat: string }[] }[] = dashboard.panels;
  it('queries existing metrics and labels', () => {
    const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    assert.ok(exprs.length > 25);
    const annotations: string[] = dashboard.annotations.list.map(({ expr }: { expr: string }) => expr);
    for (const expr of [...exprs, ...annotations]) check(expr);
  });

  it('shows in legends only labels that it groups by, or that are there ungrouped', () => {
    for (const { expr, legendFormat } of panels.flatMap(({ targets = [] }) => targets)) {
      const { groupings } = askedIn(expr);
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        assert.ok(groupings.includes(label) || everywhere.includes(label), `${label} in the legend of ${expr}`);
    }
  });
});

describe('alerts', () => {
  it('query existing metrics and labels', () => {
    assert.ok(rules.length > 15);
    for (const { expr } of rules) check(expr);
  });

  it('have a name of their own, a severity, a sentence and a section with the remedy', () => {
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    for (const { alert, labels, annotations, for: lasting } of rules) {
      assert.match(alert, /^Gateway[A-Z][A-Za-z]+$/);
      assert.match(lasting, /^\d+[mh]$/);
      assert.ok(['critical', 'warning'].includes(labels.severity), alert);
      assert.match(annotations.summary, /\.$/);
      const section = `docs/operations.md#${alert.toLowerCase()}`;
      assert.equal(annotations.runbook_url, `https://git.example.com/gateway/${section}`);
    }
  });

  it('are each explained in docs/operations.md, once that is written', () => {
    if (!existsSync(fileAt('docs/operations.md'))) return;
    const headings = [...read('docs/operations.md').matchAll(/^#+ +(.+)$/gm)].map(([, text = '']) => text.trim());
    const anchors = new Set(
      headings.map((text) =>
        text
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      ),
    );
    const missing = rules.map(({ alert }) => alert).filter((alert) => !anchors.has(alert.toLowerCase()));
    assert.deepEqual(missing, [], 'Each alert of deploy/prometheus/alerts.yaml has a section of its name.');
  });
});

it('an expression is taken apart as Prometheus would', () => {
  const expr = 'histogram_quantile(0.99, sum by (le, a) (rate(x_bucket{b=~"5..", c!="d"}[5m]))) / y > 14 * 86400';
  assert.deepEqual(askedIn(expr), {
    metrics: ['x_bucket', 'y'],
    selectors: [
      { label: 'b', value: '5..' },
      { label: 'c', value: 'd' },
    ],
    groupings: ['le', 'a'],
  });
});
