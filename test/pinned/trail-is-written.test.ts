// Stages write the trail for log and metrics. State that a stage decides by belongs to the part that decides. The list names the reads that
// are left; a new one fails this test.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const left: Readonly<Record<string, readonly string[]>> = {
  // Identity and arrival of the exchange.
  'gateway/edge/body-timeout.ts': ['startedAt'],
  'gateway/edge/unreadable.ts': ['id', 'startedAt'],
  // The writer of refusals: challenges of the operation, and whether the error object says `retryable`.
  'gateway/edge/refuse.ts': ['operation', 'repeatable'],
  // The reservation of an organization.
  'gateway/overload/loads.ts': ['bytesHeld', 'load'],
  // Time of the upstream, which is noted itself.
  'gateway/tunnel/request.ts': ['forwardedAt'],
  'gateway/tunnel/upgrade.ts': ['forwardedAt'],
  // Whether a status is noted already when the client leaves.
  'gateway/upstream/attempts.ts': ['refusal'],
  'gateway/upstream/before-sending.ts': ['refusal'],
};

/** Members of the trail that a text reads: `trail.name` that is not assigned to, and names destructured from a trail. */
function readsIn(source: string): string[] {
  const text = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const direct = text.matchAll(/\btrail\.(\w+)\b(?!\s*(?:[+?]{0,2}=(?!=)|\.push\())/g);
  const destructured = text.matchAll(/const \{([^}]+)\} = (?:[\w.#]+\.)?trail;/g);
  const names = [...destructured].flatMap(([, list = '']) => list.split(',').map((name) => name.trim()));
  return [...new Set([...[...direct].map(([, name = '']) => name), ...names])].sort();
}

it('no stage decides by the trail, but for the reads that are listed', () => {
  const concerns = ['auth', 'contract', 'edge', 'idempotency', 'limits', 'overload', 'tunnel', 'upstream', 'versions'];
  const files = globSync([...concerns.map((concern) => `gateway/${concern}/**/*.ts`), 'gateway/pipeline.ts'], {
    cwd: root,
  });
  const found = files.sort().map((file) => [file, readsIn(readFileSync(root + file, 'utf8'))] as const);
  assert.deepEqual(Object.fromEntries(found.filter(([, names]) => names.length > 0)), left);
});
