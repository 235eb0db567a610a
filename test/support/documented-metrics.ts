// The metrics that docs/metrics.md lists.

import { readFileSync } from 'node:fs';

interface DocumentedMetric {
  readonly type: string;
  readonly labels: readonly string[];
}

export function documentedMetrics(): ReadonlyMap<string, DocumentedMetric> {
  const text = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const rows = text.matchAll(/^\| `(\w+)` +\| (\w+) +\| (.*?) *\| \S.*\|$/gm);
  return new Map(
    [...rows].map(([, name = '', type = '', labels = '']) => [
      name,
      { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label) },
    ]),
  );
}
