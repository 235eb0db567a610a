// Runs `gateway upstreams try` against a service of a test, and tells its pass card.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../../gateway/commands/finding.ts';
import { writeSound } from '../../config/faults.ts';
import { environmentOf } from '../../support/configuration.ts';
import { runInProcess } from '../../support/in-process.ts';
import type { Answer, FakeUpstream } from '../../support/upstream.ts';

export interface Told {
  readonly code: number;
  readonly ok: boolean;
  readonly target: string;
  readonly checks: readonly Finding[];
}

/** @param entry further lines of the entry; the service is closed afterwards */
export async function tryIt(
  upstream: FakeUpstream,
  document: string,
  flags: readonly string[] = [],
  entry = '',
  secrets: Readonly<Record<string, string>> = {},
): Promise<Told> {
  const directory = writeSound({
    'config/upstreams.yaml': `upstreams:\n  items:\n    contracts: [items.yaml]\n    live: ${upstream.url}\n${entry}`,
    'config/limits.yaml': 'tiers: {}\n',
    'openapi/items.yaml': document,
  });
  const environment = { ...environmentOf(directory), GATEWAY_DATA: join(directory, 'data'), ...secrets };
  const { code, stdout, stderr } = await runInProcess(['upstreams', 'try', 'items', '--json', ...flags], {
    environment,
  });
  rmSync(directory, { recursive: true });
  await upstream.close();
  assert.notEqual(stdout, '', stderr);
  return { code, ...(JSON.parse(stdout) as Omit<Told, 'code'>) };
}

export const failures = ({ checks }: Told) =>
  checks.filter(({ verdict }) => verdict === 'fail').map(({ says }) => says);
export const has = (told: Told, verdict: string, says: RegExp) =>
  assert.ok(
    told.checks.some((one) => one.verdict === verdict && says.test(one.says)),
    `${verdict} ${says} in ${JSON.stringify(told.checks, null, 1)}`,
  );

/** Answers JSON, with further headers. */
export function json(
  response: Parameters<Answer>[1],
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
