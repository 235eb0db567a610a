// An organization sees what it has called, by the operation and the command alike, and nothing of others.

import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type AdministrationAnswer, administerAt, OWN_ENTRY } from '../../support/administration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { shippedContracts, startGateway, type TestGateway } from '../../support/gateway.ts';
import { mistyped } from '../../support/mistyped.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { PEPPER } from '../../unit/auth/samples.ts';
import { commandLine } from '../commands/command-line.ts';

const NOW = '2026-11-26T12:30:00.000Z';
const DAY = { from: '2026-11-26T00:00:00.000Z', to: '2026-11-27T00:00:00.000Z' };

interface Row {
  readonly from: string;
  readonly to: string;
  readonly operation_id?: string | null;
  readonly key_id?: string | null;
  readonly status_class?: string;
  readonly requests: number;
}

describe('the use of an organization', () => {
  const directory = temporaryDirectory();
  const clock = { nowMs: Date.parse(NOW) };
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let one: { id: string; key: string };
  let two: { id: string; key: string };
  let other: { id: string; key: string };
  let operator: { id: string; key: string };

  function startOn(dataDirectory: string): Promise<TestGateway> {
    const things = thingsAt(upstream.url);
    return startGateway({
      ...things,
      upstreams: { ...things.upstreams, ...OWN_ENTRY },
      prepare: (place) =>
        cpSync(join(shippedContracts, 'gateway'), join(place, 'openapi', 'gateway'), { recursive: true }),
      dataDirectory,
      environment: { KEY_PEPPER: PEPPER },
      now: () => clock.nowMs,
    });
  }

  async function send(line: string, key: string | undefined, body?: string): Promise<number> {
    const [method = '', path = ''] = line.split(' ');
    const answer = await fetch(gateway.url + path, {
      method,
      headers: { ...(key && { authorization: `Bearer ${key}` }), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body }),
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  const ask = (line: string, key = one.key): Promise<AdministrationAnswer> => administerAt(gateway)(line, { key });
  /** Without the operations of this interface. */
  const rowsOf = ({ body }: AdministrationAnswer): Row[] =>
    body.data.filter(({ operation_id }: Row) => operation_id !== 'getUsage' && operation_id !== 'getOrganizationUsage');

  before(async () => {
    upstream = await startUpstream((request, response) => {
      const status = request.url?.includes('missing') ? 404 : 200;
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
    gateway = await startOn(join(directory, 'data'));
    const scopes = ['things:read', 'things:write', 'gateway:read'];
    one = await gateway.issueKey({ organization: 'org_a', scopes });
    two = await gateway.issueKey({ organization: 'org_a', scopes: ['things:read'] });
    other = await gateway.issueKey({ organization: 'org_b', scopes });
    operator = await gateway.issueKey({ organization: 'org_staff', operator: true, scopes: ['gateway:usage:read'] });
    for (let count = 0; count < 3; count += 1) await send('GET /v1/things', one.key);
    await send('POST /v1/things', one.key, '{"name":1}');
    await send('GET /v1/things/t1', two.key);
    await send('GET /v1/things/missing', two.key);
    await send('POST /v1/things', two.key, '{"name":"x"}');
    await send('GET /v1/things', other.key);
    // Of no known organization.
    await send('GET /v1/things', undefined);
    await send('GET /v1/things', mistyped(one.key));
    await send('GET /v1/nothing', one.key);
  });

  after(async () => {
    await gateway.stop();
    await upstream.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('is counted by operation, key and class of status', async () => {
    const answer = await ask('GET /gateway/v1/usage?group=operation&group=key&group=status_class&limit=100');
    assert.equal(answer.status, 200, answer.text);
    const row = (operation_id: string, key_id: string, status_class: string, requests: number) => ({
      ...DAY,
      operation_id,
      key_id,
      status_class,
      requests,
    });
    const byKey = (rows: readonly Row[]) =>
      [...rows].sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
    assert.deepEqual(
      byKey(rowsOf(answer)),
      byKey([
        row('createThing', one.id, '4xx', 1),
        row('createThing', two.id, '4xx', 1),
        row('getThing', two.id, '2xx', 1),
        row('getThing', two.id, '4xx', 1),
        row('listThings', one.id, '2xx', 3),
      ]),
    );
    assert.deepEqual([answer.body.has_more, answer.body.cursor], [false, null]);
    assert.ok(Date.parse(answer.body.complete_until) <= clock.nowMs);
    assert.ok(Date.parse(answer.body.complete_until) >= clock.nowMs - 10_000);
  });

  it('adds up alike by hour, day and month, and has whole periods', async () => {
    const periods = { hour: '2026-11-26T12:00:00.000Z', day: DAY.from, month: '2026-11-01T00:00:00.000Z' };
    for (const [by, from] of Object.entries(periods)) {
      const rows = rowsOf(await ask(`GET /gateway/v1/usage?by=${by}&operation_id=listThings`));
      assert.deepEqual(
        rows.map((row) => [row.from, row.requests]),
        [[from, 3]],
        by,
      );
    }
    const before = await ask('GET /gateway/v1/usage?to=2026-11-25T23:59:60Z&from=2026-11-01T00:00:00Z');
    assert.deepEqual([before.status, before.body.data], [200, []], 'a leap second is a time');
  });

  it('is the caller’s own, for every question', async () => {
    const own = rowsOf(await ask('GET /gateway/v1/usage?group=operation', other.key));
    assert.deepEqual(own, [{ ...DAY, operation_id: 'listThings', requests: 1 }]);
    const foreign = await ask(`GET /gateway/v1/usage?key_id=${one.id}`, other.key);
    assert.deepEqual([foreign.status, foreign.body.data], [200, []]);
    for (const path of ['organizations/org_a/usage', 'organizations/org_b/usage'])
      assert.equal((await ask(`GET /gateway/v1/${path}`, other.key)).status, 403, path);
    const named = await ask('GET /gateway/v1/usage?organization_id=org_a', other.key);
    assert.equal(named.body.error.code, 'validation_failed');
  });

  it('is shown to operators by organization', async () => {
    const answer = await ask('GET /gateway/v1/organizations/org_a/usage?operation_id=getThing', operator.key);
    assert.deepEqual(rowsOf(answer), [{ ...DAY, requests: 2 }]);
    const unknown = await ask('GET /gateway/v1/organizations/org_none/usage', operator.key);
    assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'resource_missing']);
    assert.equal((await ask('GET /gateway/v1/usage', operator.key)).status, 403, 'gateway:read was not granted');
  });

  it('comes in pages whose cursors belong to the question and the caller', async () => {
    const line = 'GET /gateway/v1/usage?group=key&group=operation&operation_id=getThing&limit=1';
    const whole = await ask(`${line}00`);
    assert.equal(whole.body.data.length, 1);
    const grouped = 'GET /gateway/v1/usage?group=status_class&key_id=';
    const first = await ask(`${grouped}${two.id}&limit=1`);
    assert.deepEqual([first.body.data.length, first.body.has_more], [1, true]);
    const cursor = `&cursor=${first.body.cursor}`;
    const second = await ask(`${grouped}${two.id}&limit=5${cursor}`);
    assert.deepEqual(
      [...first.body.data, ...second.body.data].map(({ status_class, requests }: Row) => [status_class, requests]),
      [
        ['2xx', 1],
        ['4xx', 2],
      ],
    );
    for (const [wrong, key] of [
      [`${grouped}${one.id}${cursor}`, one.key],
      [`GET /gateway/v1/usage?group=key${cursor}`, one.key],
      [`${grouped}${two.id}${cursor}`, other.key],
      [`${grouped}${two.id}&cursor=${Buffer.from('[0]').toString('base64url')}`, one.key],
    ] as const) {
      const { status, body } = await ask(wrong, key);
      assert.deepEqual([status, body.error?.code], [400, 'invalid_cursor'], wrong);
    }
  });

  it('is refused for malformed times, and if the end is before the beginning', async () => {
    for (const query of [
      'from=yesterday',
      'from=2026-11-26T00:00:00Z&to=2026-11-25T00:00:00Z',
      'by=week',
      'group=color',
    ]) {
      const { status, body } = await ask(`GET /gateway/v1/usage?${query}`);
      assert.deepEqual([status, body.error.code], [400, 'validation_failed'], query);
    }
  });

  function line() {
    const environment = {
      GATEWAY_CONFIG: join(gateway.directory, 'config'),
      GATEWAY_CONTRACTS: join(gateway.directory, 'openapi'),
    };
    const commands = commandLine(gateway.dataDirectory, environment);
    commands.clock.nowMs = clock.nowMs;
    return commands;
  }

  it('is printed by a command as the operation answers it', async () => {
    const query = 'from=2026-11-20T00:00:00Z&group=operation&group=key&limit=100';
    const answer = await ask(`GET /gateway/v1/organizations/org_a/usage?${query}`, operator.key);
    const words = ['--from', '2026-11-20', '--group', 'operation,key'];
    const { json, run } = line();
    const printed = await json('usage', '--org', 'org_a', ...words);
    assert.deepEqual(printed.data, answer.body.data);
    assert.match(printed.complete_until, /^2026-11-26T12:2\d/);
    const { out } = await run('usage', '--org', 'org_a', ...words, '--operation', 'listThings');
    assert.match(
      out,
      new RegExp(`^FROM +OPERATION +KEY +REQUESTS\\n2026-11-26 +listThings +${one.id} +3\\nComplete until`),
    );
    assert.match((await run('usage', '--org', 'org_b', '--by', 'month')).out, /^FROM +REQUESTS\n2026-11 +\d+\n/);
  });

  it('is not printed for wrong words', async () => {
    const { run } = line();
    for (const words of [
      ['--by', 'week'],
      ['--group', 'color'],
      ['--from', 'yesterday'],
      ['--from', '1d', '--to', '2d'],
    ]) {
      const { code, err } = await run('usage', '--org', 'org_a', ...words);
      assert.equal(code, 2, `${words.join(' ')}: ${err}`);
    }
    const unknown = await run('usage', '--org', 'org_none');
    assert.deepEqual([unknown.code, unknown.err], [1, 'There is no organization org_none.']);
  });

  it('waits for some seconds, which the status and a metric say', async () => {
    await send('GET /v1/things', one.key);
    const { usage } = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { usage: Record<string, unknown> };
    assert.deepEqual(
      { ...usage, completeUntilAtMs: 0, complete_until_at: '' },
      {
        state: 'up',
        waiting: usage.waiting,
        folded: 0,
        lost: 0,
        completeUntilAtMs: 0,
        complete_until_at: '',
      },
    );
    assert.ok(Number(usage.waiting) >= 1);
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    assert.match(metrics, new RegExp(`^gateway_usage_waiting ${usage.waiting}$`, 'm'));
  });

  it('begins a new hour, and continues a former hour after the clock was set back', async () => {
    const count = async () =>
      (await ask(`GET /gateway/v1/usage?by=hour&operation_id=getThing&key_id=${two.id}`)).body.data.map(
        (row: Row) => `${row.from.slice(11, 13)}: ${row.requests}`,
      );
    assert.deepEqual(await count(), ['12: 2']);
    clock.nowMs = Date.parse('2026-11-26T13:00:00.000Z');
    await send('GET /v1/things/t1', two.key);
    clock.nowMs = Date.parse('2026-11-26T12:59:59.999Z');
    await send('GET /v1/things/t1', two.key);
    clock.nowMs = Date.parse('2026-11-26T13:10:00.000Z');
    assert.deepEqual(await count(), ['12: 3', '13: 1']);
  });

  it('is kept over a restart', async () => {
    const data = gateway.dataDirectory;
    const configuration = gateway.directory;
    await gateway.stop();
    gateway = await startOn(data);
    rmSync(configuration, { recursive: true, force: true });
    assert.deepEqual(rowsOf(await ask('GET /gateway/v1/usage?operation_id=listThings')), [{ ...DAY, requests: 4 }]);
  });
});
