// `bin/gateway` as operators run it, in front of one upstream, for tests that kill it in the middle of a keyed write.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import { issueKeyIn, writeConfiguration } from '../../support/gateway.ts';
import { createInstallation, type Installation } from '../../support/process.ts';
import { thingsAt } from '../../support/things.ts';
import { newKey, THING } from './keyed.ts';

export interface Installed {
  readonly start: Installation['start'];
  /** Another instance: on the same data directory without a Redis, else with a data directory of its own. */
  readonly startAnother: Installation['start'];
  /** POST /v1/things, the same request each time unless another key is given. */
  post(port: number, key?: string): Promise<Answer>;
  /** Repeats the same request while the key is in use. */
  insist(port: number): Promise<Answer>;
  close(): Promise<void>;
}

/** One organization with one live key. @param entry further members of the upstream's entry */
export async function installGateway(
  upstreamUrl: string,
  redisUrl: string | undefined,
  entry: object,
): Promise<Installed> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-killed-'));
  writeConfiguration(directory, thingsAt(upstreamUrl, entry));
  const environment = {
    GATEWAY_CONFIG: join(directory, 'config'),
    GATEWAY_CONTRACTS: join(directory, 'openapi'),
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
  };
  const installation = createInstallation(environment);
  const other = redisUrl === undefined ? installation : createInstallation(environment);
  const { key } = await issueKeyIn(installation.environment, { organization: 'org_acme', tier: 'premium' });
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` };
  const sameKey = newKey();

  function post(port: number, idempotencyKey = sameKey): Promise<Answer> {
    return ask(port, requestOf('POST /v1/things', { ...headers, 'Idempotency-Key': idempotencyKey }, THING));
  }

  async function insist(port: number): Promise<Answer> {
    for (;;) {
      const answer = await post(port);
      if (answer.error.code !== 'idempotency_key_in_use') return answer;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  return {
    start: installation.start,
    startAnother: other.start,
    post,
    insist,
    async close() {
      installation.remove();
      other.remove();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
