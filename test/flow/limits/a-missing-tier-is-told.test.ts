// A tier that organizations have and limits.yaml lacks, such as after a slip in its name: the strictest tier limits them, and every command
// that an operator would look at says so.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { environmentOf } from '../../support/configuration.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { runInProcess } from '../../support/in-process.ts';
import { eventually } from '../../support/instances.ts';
import { apartAt, startRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';

const redis = await startRedis();
after(() => redis.stop());

const trial = { requests: 10, windowSeconds: 60 };
const standard = { requests: 100, windowSeconds: 60 };
const TEXT = 'tier standard is not in limits.yaml: trial, the strictest, is in its place';

for (const { store, more } of [
  { store: 'SQLite', more: {} },
  { store: 'Redis', more: { REDIS_URL: apartAt(redis.url) } },
]) {
  describe(`a tier that is renamed by mistake, with the organizations in ${store}`, () => {
    let gateway: TestGateway;
    let upstream: Awaited<ReturnType<typeof startUpstream>>;
    let key: string;
    const write = (tiers: object) =>
      writeFileSync(
        join(gateway.directory, 'config/limits.yaml'),
        JSON.stringify({ tiers, organizations: { org_own: standard } }),
      );
    const run = (...words: string[]) =>
      runInProcess(words, {
        environment: {
          ...environmentOf(gateway.directory),
          ...more,
          GATEWAY_DATA: gateway.dataDirectory,
          PORT: '0',
          ADMIN_PORT: String(gateway.app.adminPort),
        },
      });
    before(async () => {
      upstream = await startUpstream();
      gateway = await startGateway({
        ...thingsAt(upstream.url),
        limits: { tiers: { trial, standard }, organizations: { org_own: standard } },
        environment: more,
      });
      ({ key } = await gateway.issueKey({ organization: 'org_one' }));
      await gateway.issueKey({ organization: 'org_two' });
      await gateway.issueKey({ organization: 'org_three', tier: 'trial' });
      await gateway.issueKey({ organization: 'org_own' });
    });
    after(async () => {
      await gateway.stop();
      await upstream.close();
    });

    it('is no matter while it has its name', async () => {
      assert.doesNotMatch((await run('check')).stdout, /organization/);
      assert.match((await run('limits', 'show', '--org', 'org_one')).stdout, /^org_one, tier standard\n/);
    });

    it('is a warning of check, which counts its organizations and suggests the name', async () => {
      write({ trial, standrd: standard });
      const { code, stdout } = await run('check');
      assert.equal(code, 0);
      assert.match(
        stdout,
        /^warning: 2 organizations are on tier standard, which limits\.yaml does not have: they get the limits of trial, the strictest\. Did you mean standrd\?$/m,
      );
    });

    it('needs attention, and is in place in the words of limits show and explain', async () => {
      await gateway.app.reload();
      await eventually(async () => (await run('status')).stdout.includes('standard'));
      const { code, stdout } = await run('status');
      assert.equal(code, 0);
      assert.match(stdout, new RegExp(`^WARNING +T${TEXT.slice(1)}\\.\n +2 organizations are on it\\.`, 'm'));
      assert.match((await run('limits', 'show', '--org', 'org_one')).stdout, new RegExp(`^org_one, ${TEXT}\n`));
      assert.match((await run('limits', 'show', '--org', 'org_own')).stdout, /^org_own, tier standard\n/);
      const answer = await fetch(`${gateway.url}/v1/things`, { headers: { authorization: `Bearer ${key}` } });
      const id = answer.headers.get('x-request-id') ?? '';
      await eventually(async () => (await run('explain', id)).stdout.includes(TEXT));
      const lost = gateway.logLines().filter(({ msg }) => msg === TEXT);
      assert.deepEqual(
        lost.map(({ tier, organizations }) => [tier, organizations]),
        [['standard', 2]],
      );
    });

    it('needs none when it has its name again', async () => {
      write({ trial, standard });
      await gateway.app.reload();
      await eventually(async () => !(await run('status')).stdout.includes('limits.yaml'));
    });
  });
}
