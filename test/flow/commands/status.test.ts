// `status` and `alerts list` tell on the command line what the console names under "Needs attention": the same words, with consequence,
// runbook and link, whether alerts are configured or not.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { runInProcess } from '../../support/in-process.ts';
import { eventually } from '../../support/instances.ts';
import { thingsAt } from '../../support/things.ts';
import { unusedPort } from '../../support/upstream.ts';

describe('a gateway without receivers of alerts', () => {
  let gateway: TestGateway;
  let target: string;
  let key: string;
  before(async () => {
    target = `http://127.0.0.1:${await unusedPort()}`;
    gateway = await startGateway(thingsAt(target));
  });
  after(() => gateway.stop());

  const run = (...words: string[]) =>
    runInProcess(words, {
      environment: { GATEWAY_DATA: gateway.dataDirectory, ADMIN_PORT: String(gateway.app.adminPort) },
    });

  it('has nothing that needs attention, and names its upstream', async () => {
    await eventually(async () => (await run('status')).code === 0);
    const { code, stdout } = await run('status');
    assert.equal(code, 0);
    assert.match(stdout, /^Nothing needs attention\.\n\nUPSTREAM +TARGETS +BREAKER/);
    assert.match(stdout, new RegExp(`^things +${target} \\(live\\) not asked yet`, 'm'));
    assert.match((await run('alerts', 'list')).stdout, /^Nothing needs attention\./);
  });

  it('calls a target suspect after a failed request, which is no failure yet', async () => {
    ({ key } = await gateway.issueKey());
    await fetch(`${gateway.url}/v1/things`, { headers: { authorization: `Bearer ${key}` } });
    const { code, stdout } = await run('status');
    assert.equal(code, 0);
    assert.match(stdout, /^Nothing needs attention yet\. Suspect, because its last request failed: things\.$/m);
    assert.match(stdout, /^things +http:\S+ \(live\) suspect \(ECONNREFUSED [\d.:]+\)/m);
  });

  it('names a target that is down as the console does, and ends with 1', async () => {
    for (let sent = 0; sent < 2; sent += 1)
      await fetch(`${gateway.url}/v1/things`, { headers: { authorization: `Bearer ${key}` } });
    await eventually(async () => (await run('status')).code === 1);
    const shown = (await (await fetch(`${gateway.adminUrl}/console/feed`)).json()) as {
      attention: { cause: string; consequence: string; runbook: string }[];
    };
    const [cause] = shown.attention;
    assert.match(cause?.cause ?? '', /target .* is failing \(ECONNREFUSED/);
    for (const words of [['status'], ['alerts', 'list']]) {
      const { stdout } = await run(...words);
      assert.ok(stdout.startsWith(`FAILURE   ${cause?.cause}\n          ${cause?.consequence} Since 2`), stdout);
      assert.match(stdout, /^ +cause {4}upstream things live$/m);
      assert.match(
        stdout,
        /^ +runbook {2}GatewayTargetDown in docs\/operations\.md, and http:\S+\/#\/runbook\/GatewayTargetDown$/m,
      );
      assert.match(stdout, /^ +details {2}http:\S+\/#\/upstreams\/things$/m);
    }
    assert.match(
      (await run('status')).stdout,
      /^things +http:\S+ \(live\) failing \(ECONNREFUSED [\d.:]+\) +live closed/m,
    );
    assert.match((await run('alerts', 'list')).stdout, /No receiver is told of them/);
  });

  it('lists what happened, the latest last', async () => {
    const { code, stdout } = await run('status', '--history');
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^BEGAN +ENDED +KIND +WHAT +INSTANCE\n2\S+Z +- +start +The gateway started\. +-\n2\S+Z +lasts +failure +Upstream things \(live\): target .* -\n$/,
    );
    const { history } = JSON.parse((await run('status', '--history', '--json')).stdout);
    assert.deepEqual(
      history.map(({ kind, until }: { kind: string; until: string | null }) => [kind, until === null]),
      [
        ['start', false],
        ['failure', true],
      ],
    );
  });

  it('lists the requests that fail, and says how one of them is explained', async () => {
    await fetch(`${gateway.url}/v1/nothing`);
    const { code, stdout } = await run('requests', '--failed', '--operation', 'listThings');
    assert.equal(code, 0);
    const [head, latest, ...more] = stdout.split('\n');
    assert.match(head ?? '', /^ENDED +REQUEST +OPERATION +STATUS +CODE +DURATION +ORGANIZATION +INSTANCE$/);
    assert.match(latest ?? '', /^2\S+Z +req_\w+ +GET \/v1\/things +502 +upstream_unreachable +[\d.]+ m?s +org_\w+ +\S/);
    const [, next] = /^Next: bin\/gateway explain (req_\w+)$/m.exec(stdout) ?? [];
    assert.ok(latest?.includes(String(next)));
    assert.equal(more.filter((line) => line.includes('req_') && !line.startsWith('Next')).length, 2);
    assert.equal((await run('explain', String(next))).code, 0);
    const listed = async (...words: string[]) =>
      JSON.parse((await run('requests', '--json', ...words)).stdout).requests.map(
        ({ status }: { status: number }) => status,
      );
    assert.deepEqual(await listed('--status', '404'), [404]);
    assert.deepEqual(await listed('--code', 'upstream_unreachable', '--limit', '1', '--since', '1h'), [502]);
    assert.deepEqual(await listed('--org', 'org_unknown'), []);
    assert.deepEqual(await listed('--upstream', 'things', '--slow', '1h'), []);
    for (const wrong of [
      ['--slow', 'often'],
      ['--since', 'soon'],
      ['--limit', '0'],
      ['--failed', '--status', '5xx'],
    ])
      assert.equal((await run('requests', ...wrong)).code, 2);
  });

  it('prints JSON with the members of a webhook', async () => {
    const { code, stdout } = await run('status', '--json');
    assert.equal(code, 1);
    const { causes, upstreams, lifecycle } = JSON.parse(stdout) as CausesReport & Record<string, object>;
    assert.deepEqual([Object.keys(upstreams as object), lifecycle], [['things'], 'serving']);
    assert.partialDeepStrictEqual(causes, [
      { id: 'upstream things live', state: 'firing', severity: 'failure', runbook: 'GatewayTargetDown', until: null },
    ]);
    const listed = JSON.parse((await run('alerts', 'list', '--json')).stdout) as CausesReport;
    assert.deepEqual(
      listed.causes.map(({ id }) => id),
      causes.map(({ id }) => id),
    );
  });

  it('says that no gateway answers', async () => {
    const environment = { GATEWAY_DATA: gateway.dataDirectory, ADMIN_PORT: String(await unusedPort()) };
    const { code, stderr } = await runInProcess(['status'], { environment });
    assert.equal(code, 1);
    assert.match(stderr, /No gateway answers at http:\/\/127\.0\.0\.1:/);
  });
});
