// Two workers behind one port: clients and operators see one gateway, and no worker outlives the process that holds them.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Feed } from '../../../gateway/console/feed/feed.ts';
import type { HistoryReport } from '../../../gateway/console/history/history-report.ts';
import { ask, type Connection, openConnection, requestOf } from '../../support/connection.ts';
import { runInProcess } from '../../support/in-process.ts';
import { sendRaw } from '../../support/raw.ts';
import { createHolding, eventually, isAlive, metricsOf, seriesIn, startSeveral } from './several.ts';

const LIMIT = 40;
const LONG_NAME = 'x'.repeat(1500);

const upstream = createHolding();

const several = await startSeveral({
  answer: upstream.answer,
  limits: { tiers: { standard: { requests: LIMIT } } },
  environment: { ADMIN_TOKEN: 'an-admin-token-for-this-test' },
});
after(() => several.close());

const asAdmin = { Authorization: 'Bearer an-admin-token-for-this-test' };
const exchanges = () => several.logLines().filter(({ msg }) => msg === 'exchange');
const asked = 'http_server_request_duration_seconds_count{http_request_method="GET",http_route="/v1/things"';

describe('two workers', () => {
  it('are announced once, when both take requests', async () => {
    assert.equal(several.output().match(/gateway {8}http/g)?.length, 1);
    const workers = await several.workers();
    assert.deepEqual(
      workers.map(({ worker, state, restarts }) => ({ worker, state, restarts })),
      [
        { worker: 1, state: 'serving', restarts: 0 },
        { worker: 2, state: 'serving', restarts: 0 },
      ],
    );
    assert.equal(new Set(workers.map(({ pid }) => pid)).size, 2);
    assert.equal(new Set(workers.map(({ configuration }) => configuration)).size, 1);
    assert.ok(workers.every(({ pid, configuration }) => pid !== several.child.pid && configuration !== null));
    assert.ok(workers.every(({ since }) => !Number.isNaN(Date.parse(since))));
  });

  it('admit together exactly the limit, in any distribution', async () => {
    const { port, authorization } = several;
    // Longer than a pipe keeps together: lines of two processes would tear.
    const headers = { Authorization: authorization, 'X-Request-Id': LONG_NAME.slice(0, 60) };
    const clients = await Promise.all(Array.from({ length: 20 }, () => openConnection(port)));
    const statuses = await Promise.all(
      clients.map(async (client) => {
        const got: (number | undefined)[] = [];
        for (let count = 0; count < 5; count += 1) {
          client.send(requestOf(`GET /v1/things?q=${LONG_NAME}`, headers));
          got.push((await client.answer())?.status);
        }
        client.destroy();
        return got;
      }),
    );
    const all = statuses.flat();
    assert.equal(all.filter((status) => status === 200).length, LIMIT);
    assert.equal(all.filter((status) => status === 429).length, 100 - LIMIT);
  });

  it('write whole lines to one output, each with its worker', async () => {
    await eventually(() => exchanges().length === 100);
    const writers = Map.groupBy(exchanges(), ({ worker }) => worker);
    assert.deepEqual([...writers.keys()].sort(), [1, 2]);
    assert.equal(exchanges().filter(({ status }) => status === 200).length, LIMIT);
  });

  it('are queried together about an exchange, and any of them may have had it', async () => {
    for (const worker of [1, 2]) {
      const line = exchanges().find((one) => one.worker === worker);
      const answer = await fetch(`${several.adminUrl}/exchanges/${line?.request_id}`);
      assert.deepEqual(await answer.json(), { exchanges: [line] });
    }
    assert.equal((await fetch(`${several.adminUrl}/exchanges/req_nobody`)).status, 404);
  });

  it('have their metrics added up; metrics about a process name it', async () => {
    const text = await metricsOf(several);
    assert.equal(seriesIn(text, `${asked},http_response_status_code="200",api_version="v1"}`), LIMIT);
    assert.equal(seriesIn(text, `${asked},http_response_status_code="429",api_version="v1"}`), 100 - LIMIT);
    assert.equal(
      seriesIn(text, 'gateway_rate_limit_decisions_total{policy="organization",decision="admitted"}'),
      LIMIT,
    );
    assert.equal(seriesIn(text, 'gateway_workers_serving'), 2);
    assert.match(text, /^gateway_worker_restarts_total 0$/m);
    assert.equal(text.match(/^gateway_build_info\{[^}]*\} 1$/gm)?.length, 1);
    for (const worker of ['1', '2', 'primary'])
      assert.ok(seriesIn(text, `process_resident_memory_bytes{worker="${worker}"}`) > 1e7, worker);
    const [, loadedAt] = /^gateway_configuration_loaded_timestamp_seconds (.*)$/m.exec(text) ?? [];
    assert.ok(
      Math.abs(Number(loadedAt) - Date.now() / 1000) < 300,
      `loaded at ${loadedAt}, not at the sum of two times`,
    );
  });

  it('have one console, on which everything is counted once', async () => {
    const feedOf = async () =>
      (await (await fetch(`${several.adminUrl}/console/feed`)).json()) as Feed & { readonly history: HistoryReport };
    const { history, organizations, status } = await feedOf();
    const things = history.operations.find(({ name }) => name === 'GET /v1/things');
    assert.deepEqual([things?.total.requests, things?.total.client_errors], [100, 100 - LIMIT]);
    assert.equal(organizations[0]?.refused, 100 - LIMIT);
    assert.equal((status as { workers: unknown[] }).workers.length, 2);
    assert.equal((await feedOf()).history.all.total.requests, history.all.total.requests);
    assert.equal((await fetch(`${several.adminUrl}/`)).status, 200);
    const list = await fetch(`${several.adminUrl}/console/exchanges?code=rate_limited&limit=200`);
    const { exchanges: rows } = (await list.json()) as { exchanges: { at: string; organization: string }[] };
    assert.equal(rows.length, 100 - LIMIT);
    assert.ok(rows.every((row, index) => index === 0 || row.at <= (rows[index - 1]?.at ?? '')));
    const found = await fetch(`${several.adminUrl}/console/organizations/${rows[0]?.organization}`);
    assert.equal(((await found.json()) as { limits: unknown[] }).limits.length, 1);
  });

  it('count as two instances when limits are divided while Redis is away', async () => {
    const instances = await several.store.instances.list();
    const workers = await several.workers();
    assert.deepEqual(instances.map(({ pid }) => pid).sort(), workers.map(({ pid }) => pid).sort());
  });

  it('are ready as one, each with its state', async () => {
    const answer = await fetch(`${several.adminUrl}/readyz`);
    assert.equal(answer.status, 200);
    assert.deepEqual(await answer.json(), {
      status: 'ok',
      checks: { lifecycle: 'serving', keys: 'reachable', limits: 'up', 'worker 1': 'serving', 'worker 2': 'serving' },
    });
    assert.deepEqual(await (await fetch(`${several.adminUrl}/livez`)).json(), { status: 'ok' });
  });

  it("keep strangers away from the operators' endpoints", async () => {
    const port = several.adminPort;
    const foreign = await sendRaw(port, 'GET /status HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
    assert.equal(foreign.status, 421);
    const page = requestOf('GET /metrics', { Host: `127.0.0.1:${port}`, Origin: 'http://evil.example' });
    assert.equal((await ask(port, page)).status, 403);
  });

  it('know the same about limits, and forget a refusal together', async () => {
    const shown = await fetch(`${several.adminUrl}/limits?organization=org_test`);
    const { limits } = (await shown.json()) as { limits: { policy: string; used: number; source: string }[] };
    assert.deepEqual([limits[0]?.used, limits[0]?.source], [LIMIT, 'redis']);
    assert.equal((await fetch(`${several.adminUrl}/limits?organization=org_nobody`)).status, 404);
    const reset = await fetch(`${several.adminUrl}/limits/reset?organization=org_test`, {
      method: 'POST',
      headers: asAdmin,
    });
    assert.equal(reset.status, 200);
    const [entry] = await several.store.audit.list({ limit: 1 });
    assert.deepEqual([entry?.kind, entry?.details.request_id], ['limits.reset', reset.headers.get('x-request-id')]);
    const admitted = async () =>
      (await ask(several.port, requestOf('GET /v1/things', { Authorization: several.authorization }))).status === 200;
    // Both workers have refused this caller and remembered it; new connections come to either.
    await eventually(async () => (await Promise.all(Array.from({ length: 6 }, admitted))).every(Boolean));
  });

  it('act once for the console, and tell when the change is in force on both', async () => {
    const act = async (action: string, dryRun: boolean) => {
      const answer = await fetch(`${several.adminUrl}/console/actions/${action}`, {
        method: 'POST',
        headers: { ...asAdmin, 'content-type': 'application/json', 'x-console-action': '1' },
        body: JSON.stringify({ target: 'org_test', dry_run: dryRun }),
      });
      return { status: answer.status, answer: (await answer.json()) as { before: object; after: object } };
    };
    const { latest } = await several.store.audit.since(Number.MAX_SAFE_INTEGER, 1);
    const { answer } = await act('suspend-organization', true);
    assert.deepEqual([answer.before, answer.after], [{ state: 'active' }, { state: 'suspended' }]);
    assert.equal((await act('suspend-organization', false)).status, 200);
    await eventually(async () => {
      const state = (await (await fetch(`${several.adminUrl}/console/in-force`)).json()) as Record<string, unknown>;
      return state.confirmed === 2;
    });
    assert.equal((await act('resume-organization', false)).status, 200);
    const { changes } = await several.store.audit.since(latest, 10);
    const told = changes.map(({ kind, by }) => `${kind} ${by}`);
    assert.deepEqual(told, ['organization.suspended admin_token', 'organization.resumed admin_token']);
    const viewOf = async (name: string) => (await fetch(`${several.adminUrl}/console/${name}`)).json();
    const { changes: shown } = (await viewOf('audit?organization=org_test')) as { changes: { by: string }[] };
    assert.equal(shown[0]?.by, 'admin_token');
    assert.ok(((await viewOf('routes')) as { routes: object[] }).routes.length > 0);
    await eventually(async () => {
      const request = requestOf('GET /v1/things', { Authorization: several.authorization });
      return (await ask(several.port, request)).status === 200;
    });
  });

  it('count the usage of an organization together, including counts that are not written yet', async () => {
    const own = () => exchanges().filter((line) => line.operation === 'listThings' && line.organization === 'org_test');
    assert.equal(new Set(own().map(({ worker }) => worker)).size, 2);
    const words = ['usage', '--org', 'org_test', '--by', 'month', '--operation', 'listThings', '--json'];
    await eventually(async () => {
      const { stdout } = await runInProcess(words, { environment: several.environment });
      const { data } = JSON.parse(stdout) as { data: { requests: number }[] };
      return data.reduce((sum, { requests }) => sum + requests, 0) === own().length;
    });
    const { usage } = (await (await fetch(`${several.adminUrl}/status`)).json()) as { usage: Record<string, unknown> };
    assert.equal(usage.state, 'up');
    assert.ok(Number(usage.completeUntilAtMs) > Date.now() - 60_000);
  });

  it('end by themselves when the process that holds them is killed, also with requests in flight and with lines that have no reader', async () => {
    const pids = (await several.workers()).map(({ pid }) => pid as number);
    const answeredBefore = several.upstream.requests.length;
    const held = await openConnection(several.port);
    held.send(requestOf(`GET ${upstream.path}`, { Authorization: several.authorization }));
    await eventually(() => several.upstream.requests.length === answeredBefore + 1);
    const clients = await Promise.all(Array.from({ length: 8 }, () => openConnection(several.port)));
    // Refused without the upstream. More bytes than one line usually has.
    const refused = requestOf('GET /v1/things', { 'X-Request-Id': LONG_NAME.slice(0, 60) });
    const ask = async (client: Connection, times: number) => {
      for (let count = 0; count < times; count += 1) {
        client.send(refused);
        assert.equal((await client.answer())?.status, 401);
      }
    };
    await Promise.all(clients.map((client) => ask(client, 1)));
    // Their lines have no reader any more: more of them than a pipe holds.
    several.child.kill('SIGSTOP');
    await Promise.all(clients.map((client) => ask(client, 150)));
    several.child.kill('SIGKILL');
    await eventually(() => !pids.some(isAlive));
    upstream.letGo();
  });
});
