// A gateway with limits to be seen, and the commands that show and reset them, wired as the entry point does.

import type { TestContext } from 'node:test';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';
import { PEPPER } from '../../unit/auth/samples.ts';
import { commandLine } from './command-line.ts';

/** Three requests a minute, two of which may create something; listing is only watched. */
const limits = {
  tiers: { standard: { requests: 3, windowSeconds: 60 } },
  extra: {
    creating: { requests: 2, windowSeconds: 60, per: 'key' },
    listing: { requests: 1, windowSeconds: 60, per: 'organization', enforce: false },
  },
  operations: { createThing: { extra: 'creating' }, listThings: { extra: 'listing' } },
};

/** Everything opened here ends with the test. The gateway and the commands get the same `environment`. */
export async function limitsLine(test: TestContext, environment: Record<string, string> = {}) {
  const directory = temporaryDirectory();
  const upstream = await startUpstream();
  test.after(() => upstream.close());
  const files = { ...thingsAt(upstream.url), limits };
  const all = { KEY_PEPPER: PEPPER, GATEWAY_DATA: `${directory}/data`, ...environment };
  const gateway = await startGateway({ ...files, dataDirectory: all.GATEWAY_DATA, environment: all });
  test.after(() => gateway.stop());
  writeConfiguration(directory, files);

  const asOperator: Record<string, string> = {
    ...all,
    ADMIN_PORT: new URL(gateway.adminUrl).port,
    ...environmentOf(directory),
  };
  const line = commandLine(all.GATEWAY_DATA, asOperator);
  line.clock.now = Date.now;
  const { id, key } = await gateway.issueKey({ organization: 'org_acme' });

  /** The status of the answer to one request with the key. */
  async function call(method: 'GET' | 'POST'): Promise<number> {
    const answer = await fetch(`${gateway.url}/v1/things`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(method === 'POST' && { body: '{"name":"one"}' }),
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  return { ...line, gateway, keyId: id, call, asOperator };
}
