// While the configuration files have mistakes, commands that only read answer from the configuration in force of the running gateway, and say
// so. Commands that need the files were not run.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { environmentOf } from '../../support/configuration.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { runInProcess } from '../../support/in-process.ts';
import { apartAt, startRedis, type TestRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream, unusedPort } from '../../support/upstream.ts';
import { PEPPER } from '../../unit/auth/samples.ts';

describe('while files have mistakes', () => {
  let redis: TestRedis;
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let environment: Record<string, string>;
  before(async () => {
    redis = await startRedis();
    upstream = await startUpstream();
    const shared = { KEY_PEPPER: PEPPER, REDIS_URL: apartAt(redis.url) };
    gateway = await startGateway({
      ...thingsAt(upstream.url),
      limits: { tiers: { standard: { requests: 6 } } },
      environment: shared,
    });
    await gateway.issueKey({ organization: 'org_acme' });
    environment = {
      ...environmentOf(gateway.directory),
      ...shared,
      GATEWAY_DATA: gateway.dataDirectory,
      ADMIN_PORT: new URL(gateway.adminUrl).port,
    };
    writeFileSync(join(gateway.directory, 'config/limits.yaml'), 'tiers: { standard: { request: 6 } }\nnonsense: 1\n');
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
    await redis.stop();
  });

  const run = (words: string, more = {}) =>
    runInProcess(words.split(' '), { environment: { ...environment, ...more } });
  const NOTE =
    /^The files have \d+ mistakes? \(gateway check\): this is of the configuration in force at http:\/\/\S+\.\n$/;

  it('limits show, routes and certificates list answer as the running gateway', async () => {
    const limits = await run('limits show --org org_acme --json');
    assert.match(limits.stderr, NOTE);
    assert.equal(limits.code, 0);
    assert.equal(JSON.parse(limits.stdout).limits[0].limit, 6);
    const routes = await run('routes --upstream things --json');
    assert.match(routes.stderr, NOTE);
    assert.ok(JSON.parse(routes.stdout).some(({ operation }: { operation: string }) => operation === 'getThing'));
    const certificates = await run('certificates list');
    assert.match(certificates.stderr, NOTE);
    assert.match(certificates.stdout, /^None: gateway\.yaml has no tls/);
  });

  it('usage answers from its store, which needs no configuration', async () => {
    const { code, stdout, stderr } = await run('usage --org org_acme');
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /Complete until/);
  });

  it('a command that needs the files, or that finds no gateway, was not run', async () => {
    const away = { ADMIN_PORT: String(await unusedPort()) };
    for (const [words, more] of [
      ['upstreams try things', {}],
      ['limits show --org org_acme', away],
    ] as const) {
      const { code, stderr } = await run(words, more);
      assert.equal(code, 1);
      assert.match(stderr, /was not run\. A gateway that runs keeps its former configuration\.\n$/);
    }
  });
});
