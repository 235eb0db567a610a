// `gateway explain` names the stage that ended an exchange and the facts known there, from memory or from a log.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { TIMED_STAGES } from '../../../gateway/stages.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { explainer, logFileOf } from './explained.ts';

const UPSTREAM_BODY = 'marker-of-an-upstream-body';

describe('explain', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let authorization: string;
  before(async () => {
    upstream = await startUpstream(({ url, body }, response) => {
      response.setHeader('content-type', 'application/json');
      if (url.includes('broken')) response.writeHead(500);
      if (body.includes('broken')) response.destroy();
      response.end(`{"id":"1","note":"${UPSTREAM_BODY}"}`);
    });
    gateway = await startGateway({
      ...thingsAt(upstream.url),
      gateway: { operations: { updateThing: { deprecated: '2024-01-17', sunset: '2025-07-17' } } },
      limits: {
        tiers: { standard: { requests: 1000 }, tight: { requests: 1 } },
        extra: { burst: { requests: 1, enforce: false } },
        operations: { getThing: { extra: 'burst' } },
        addresses: { failures: 40 },
      },
    });
    authorization = (await gateway.authorize()).authorization;
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function call(path: string, init: RequestInit = {}): Promise<{ id: string; status: number; code: string }> {
    const answer = await fetch(gateway.url + path, { ...init, headers: { authorization, ...init.headers } });
    const body = await answer.text();
    const { error } = answer.ok ? { error: undefined } : (JSON.parse(body) as { error: { code: string } });
    return { id: answer.headers.get('x-request-id') ?? '', status: answer.status, code: error?.code ?? '' };
  }
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  /** The story of one exchange, which is equal from memory and from the log. */
  async function explained(test: TestContext, id: string) {
    const { stories } = explainer(gateway);
    const [story, ...others] = await stories(id);
    assert.ok(story);
    assert.equal(others.length, 0);
    assert.deepEqual(await stories(id, '--log', logFileOf(test, gateway)), [story]);
    const last = story.stages.filter(({ outcome }) => outcome !== 'not reached').at(-1);
    assert.ok(last);
    return { story, last, told: last.told.join('\n') };
  }

  async function refusedBy(test: TestContext, stage: string, code: string, refused: { id: string; code: string }) {
    const { story, last, told } = await explained(test, refused.id);
    assert.equal(refused.code, code);
    assert.deepEqual([last.stage, last.outcome], [stage, 'refused']);
    assert.match(story.verdict, new RegExp(`(was refused by ${stage}|failed) with \\d{3} ${code}`));
    for (const { outcome, duration_ms } of story.stages)
      if (outcome === 'not reached') assert.equal(duration_ms, undefined);
    for (const before of story.stages.slice(0, story.stages.indexOf(last))) assert.equal(before.outcome, 'passed');
    return told;
  }

  it('an exchange that was answered', async (test) => {
    const { id } = await call('/v1/things?q=x', { headers: { 'x-request-id': `mine-${process.pid}` } });
    const { story, told } = await explained(test, id);
    assert.match(story.verdict, /^GET \/v1\/things was answered with 200 after [\d.]+ m?s\.$/);
    assert.match(
      told,
      new RegExp(`sent to ${upstream.url}\nit answered 200 after [\\d.]+ m?s\n\\d+ bytes to the client`),
    );
    const tellOf = (stage: string) => story.stages.find((one) => one.stage === stage)?.told.join('\n') ?? '';
    assert.equal(tellOf('match'), 'listThings: GET /v1/things, of upstream things');
    assert.match(tellOf('authenticate'), /^key key_\w+, organization org_test, tier standard, mode live$/);
    assert.match(tellOf('limit'), /^organization: admitted; \d+ of 1,000 left\ndecided by this process at 20/);
    const { stories } = explainer(gateway);
    assert.deepEqual(await stories(`mine-${process.pid}`), [story], 'also by the id that its client gave it');
  });

  it('admit', async (test) => {
    const told = await refusedBy(test, 'admit', 'malformed_path', await call('/v1/things%2F1'));
    assert.equal(told, 'client 127.0.0.1');
  });

  for (const [method, path, code, expected] of [
    ['GET', '/v1/nothing', 'route_not_found', 'GET /v1/nothing\nno operation has this method and path'],
    ['GET', '/v9/things', 'version_unknown', 'GET /v9/things\nthere is no such version'],
    [
      'DELETE',
      '/v1/things',
      'method_not_allowed',
      'DELETE /v1/things\noperations have this path, none of them with this method',
    ],
    ['PROPFIND', '/v1/things', 'method_not_implemented', 'no operation at all has this method'],
    ['PATCH', '/v1/things/1', 'version_sunset', 'this version of the operation has ended'],
  ] as const)
    it(`match, with ${code}`, async (test) => {
      assert.equal(await refusedBy(test, 'match', code, await call(path, { method })), expected);
    });

  it('authenticate', async (test) => {
    const refused = await call('/v1/things', { headers: { authorization: 'Bearer nonsense' } });
    await refusedBy(test, 'authenticate', 'api_key_malformed', refused);
  });

  it('authenticate, with the header that the client has to change', async (test) => {
    const answer = await fetch(`${gateway.url}/v1/things`, { headers: { 'x-api-key': 'nonsense' } });
    await answer.arrayBuffer();
    const { story } = await explained(test, answer.headers.get('x-request-id') ?? '');
    assert.equal(
      story.next?.client,
      'The header X-API-Key is not read. Send your key with every request: `Authorization: Bearer <key>`.',
    );
    const { out } = await explainer(gateway).run(String(story.request_id));
    assert.match(out, /^Next: the client: The header X-API-Key is not read\. /m);
  });

  it('authorize, with the required scopes and the held ones', async (test) => {
    const headers = await gateway.authorize({ scopes: ['things:write', 'orders:write'] });
    const refused = await call('/v1/things', { headers });
    const told = await refusedBy(test, 'authorize', 'insufficient_scope', refused);
    assert.equal(told, 'required scopes: things:read\nheld scopes: things:write orders:write');
    const { story } = await explained(test, refused.id);
    assert.match(story.next?.commands.join() ?? '', /^bin\/gateway keys scopes key_\w+ --add things:read$/);
  });

  it('limit, with every limit that counts and the wait', async (test) => {
    const headers = await gateway.authorize({ organization: 'org_tight', tier: 'tight' });
    await call('/v1/things/1', { headers });
    const told = await refusedBy(test, 'limit', 'rate_limited', await call('/v1/things/1', { headers }));
    const [organization, burst, source] = told.split('\n');
    assert.match(String(organization), /^organization: refused a cost of 1; 0 of 1 left, more in [\d.]+ s$/);
    assert.match(
      String(burst),
      /^burst: would have refused a cost of 1; 0 of 1 left, more in [\d.]+ s, a shadow limit$/,
    );
    assert.match(String(source), /^decided by (this process|a refusal that still held)/);
  });

  it('validate, with places and constraints', async (test) => {
    const refused = await post('/v1/things', { name: 7, tags: {}, surprise: 1 });
    const told = await refusedBy(test, 'validate', 'validation_failed', refused);
    const { story } = await explained(test, refused.id);
    assert.match(story.next?.client ?? '', /\w{3}/);
    assert.deepEqual(told.split('\n').sort(), [
      'a field that the contract does not name is not known here (unknown)',
      'body /name must be a string (wrong_type)',
      'body /tags must be an array (wrong_type)',
      'body of 33 bytes',
    ]);
  });

  it('validate, with the only violation in the verdict and in the next step', async (test) => {
    const inBody = await explained(test, (await post('/v1/things', { name: 7 })).id);
    assert.match(inBody.story.verdict, /validation_failed after [\d.]+ m?s\. body \/name: must be a string\.$/);
    assert.equal(inBody.story.next?.client, 'Correct `body /name`: it must be a string.');
    const several = await explained(test, (await post('/v1/things', { name: 7, surprise: 1 })).id);
    assert.match(several.story.verdict, /errors lists each violation\.$/);
    assert.match(several.story.next?.client ?? '', /^Correct every entry of `errors`/);
  });

  it('replay', async (test) => {
    const key = { 'idempotency-key': 'order-1' };
    const first = await post('/v1/orders', { name: 'a' }, key);
    const { story } = await explained(test, first.id);
    const replay = story.stages.find(({ stage }) => stage === 'replay');
    assert.deepEqual(replay?.told, ['a new Idempotency-Key: the answer is kept']);
    const again = await explained(test, (await post('/v1/orders', { name: 'a' }, key)).id);
    assert.deepEqual([again.last.stage, again.last.outcome], ['replay', 'answered']);
    assert.equal(again.told, 'this Idempotency-Key was answered before; that answer was repeated');
    const told = await refusedBy(
      test,
      'replay',
      'idempotency_key_reused',
      await post('/v1/orders', { name: 'b' }, key),
    );
    assert.equal(told, 'this Idempotency-Key belongs to another request');
    const lost = { 'idempotency-key': 'order-2' };
    const broken = await explained(test, (await post('/v1/orders', { name: 'broken' }, lost)).id);
    assert.deepEqual(broken.story.stages.find(({ stage }) => stage === 'replay')?.told, [
      'a new Idempotency-Key: it was sent and its outcome is unknown, so the key is refused from then on',
    ]);
    const repeated = await post('/v1/orders', { name: 'broken' }, lost);
    assert.match(await refusedBy(test, 'replay', 'idempotency_outcome_unknown', repeated), /it is not sent again$/);
  });

  it('forward, with the target and its answer', async (test) => {
    const told = await refusedBy(test, 'forward', 'upstream_error', await call('/v1/things/broken'));
    assert.match(told, new RegExp(`^sent to ${upstream.url}\nit answered 500 after [\\d.]+ ms`));
  });

  it('the duration of each stage of a refused request', async (test) => {
    const { story } = await explained(test, (await call('/v1/things/broken')).id);
    const timed = story.stages.filter(({ duration_ms }) => duration_ms !== undefined).map(({ stage }) => stage);
    assert.deepEqual(timed, [...Object.keys(TIMED_STAGES), 'replay', 'forward']);
  });

  it('no text of a client or an upstream is in any record', async () => {
    const marks = ['query-value', 'query-name', 'body-value', 'body-name', 'header'].map(
      (mark) => `marker-of-a-${mark}`,
    );
    const [queryValue, queryName, bodyValue, bodyName, header] = marks;
    const ids = [
      await call(`/v1/things?${queryName}=${queryValue}&q=${queryValue}`, { headers: { 'x-secret': `${header}` } }),
      await call(`/v1/things?q=${queryValue}&q=${queryValue}`),
      await post('/v1/things', { name: 1, [`${bodyName}`]: bodyValue, tags: [bodyValue] }),
      await post('/v1/orders', `{"${bodyName}":`, { 'idempotency-key': `${header}` }),
      await call('/v1/things/broken'),
      await call(`/v1/things?key=${authorization.slice(7)}`, { headers: { authorization: '' } }),
    ];
    const { run } = explainer(gateway);
    let said = JSON.stringify(gateway.logLines());
    for (const { id } of ids) said += (await run(id)).out + (await run(id, '--json')).out;
    for (const mark of [...marks, UPSTREAM_BODY, authorization.slice(7), authorization.slice(16, 40)]) {
      assert.ok(!said.includes(mark), mark);
    }
  });

  it('from several logs, gzipped ones and standard input', async (test) => {
    const { id } = await call('/v1/things');
    const plain = logFileOf(test, gateway);
    const { run, runWith } = explainer({ ...gateway, adminUrl: 'http://127.0.0.1:1' });
    writeFileSync(`${plain}.gz`, gzipSync(readFileSync(plain)));
    const { out } = await run(id, '--log', plain);
    assert.match(out, /^req_\w{26}, 20[\d-]+T[\d:.]+Z\nGET \/v1\/things was answered with 200/);
    assert.match(out, /\nlimit {9}passed .* organization: admitted;/);
    assert.equal((await run(id, '--log', `${plain}.gz`)).out, out);
    assert.equal((await runWith([readFileSync(plain, 'utf8')], id, '--log', '-')).out, out);
  });

  it('reports that the exchange does not exist, or that no gateway can be reached', async (test) => {
    const here = explainer(gateway);
    const { code, err } = await here.run('req_nobody');
    assert.equal(code, 1);
    assert.match(
      err,
      /remembers no req_nobody: it is too old, or of another gateway, or the id is misspelt\. Name its log with --log/,
    );
    const inLog = await here.run('req_nobody', '--log', logFileOf(test, gateway));
    assert.deepEqual([inLog.code, /^No exchange req_nobody is in /.test(inLog.err)], [1, true]);
    const unreachable = await explainer({ ...gateway, adminUrl: 'http://127.0.0.1:1' }).run('req_nobody');
    assert.deepEqual([unreachable.code, /^No gateway answers at /.test(unreachable.err)], [1, true]);
    assert.equal((await here.run('a b')).code, 2);
  });

  it('throttle', async (test) => {
    for (let sent = 0; sent < 40; sent += 1) await call('/v1/nothing');
    const refused = await call('/v1/things', { headers: { authorization: 'Bearer nonsense' } });
    const told = await refusedBy(test, 'throttle', 'auth_attempts_limited', refused);
    assert.match(told, /^the address has failed too often; it may come back after \d+ s$/);
  });
});

describe('explain of a key that lacks a scope of operators', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ ...thingsAt(upstream.url), gateway: { operatorScopes: ['things:read'] } });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function explainedFor(operator: boolean) {
    const organization = operator ? 'org_staff' : 'org_acme';
    const headers = await gateway.authorize({ scopes: ['orders:write'], organization, operator });
    const answer = await fetch(`${gateway.url}/v1/things`, { headers });
    const { error } = (await answer.json()) as { error: { message: string } };
    const [story] = await explainer(gateway).stories(answer.headers.get('x-request-id') ?? '');
    return { message: error.message, next: story?.next };
  }

  it('proposes no command that the organization may not use', async () => {
    const { message, next } = await explainedFor(false);
    assert.match(message, / Only keys of operator organizations can hold these scopes\.$/);
    assert.deepEqual(next?.commands, []);
    assert.match(next?.client ?? '', /^Only keys of operator organizations can hold these scopes\. Use a key/);
  });

  it('proposes to add the scope for an operator organization', async () => {
    const { message, next } = await explainedFor(true);
    assert.doesNotMatch(message, /operator/);
    assert.match(next?.commands.join() ?? '', /^bin\/gateway keys scopes key_\w+ --add things:read$/);
  });
});
