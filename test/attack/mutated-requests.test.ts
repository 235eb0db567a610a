// Fuzzing by structure: requests that are nearly right, changed where parsers disagree. They check rules that no single case can show: for
// any input, each answer is one of the catalogue, the connection ends, and a second reader that forgives nothing reads the same bytes at
// the upstream as exactly one request for each accepted one. FUZZ_RUNS sets how long; reports name a seed.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { REFUSALS } from '../../gateway/catalogue/errors.ts';
import { closesAfterAll } from '../support/closing.ts';
import { type Answer, ask, openConnection, requestOf, until } from '../support/connection.ts';
import { startGateway } from '../support/gateway.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { httpAnswer } from '../support/scripted-upstream.ts';
import { thingsAt } from '../support/things.ts';
import { mutated } from './mutations.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 8);
/** Connections at a time: most of them only wait. */
const AT_ONCE = 16;

/** Of the tunnel, for an address that errs and comes back all the time. */
const roomy = { requests: 1_000_000, connections: 1000, connectionsTotal: 1000, failures: 1_000_000 };

const start = closesAfterAll();
const upstream = await start(startRecordingUpstream());
upstream.answers(({ method, target }) => {
  const type = method === 'GET' && target.startsWith('/v1/files') ? 'application/octet-stream' : 'application/json';
  return httpAnswer(200, '{"id":"a"}', { 'Content-Type': type });
});
const gateway = await start(
  startGateway({
    ...thingsAt(upstream.url, { timeoutMs: 2500, tunnels: [{ paths: ['/pipe/*'], webSocket: true, limits: roomy }] }),
    gateway: {
      timeouts: { headersMs: 300, requestMs: 300 },
      cors: { '*': { origins: ['https://app.test'] } },
    },
  }),
);
const key = (await gateway.issueKey()).key;

/** Everything that comes back until the gateway closes, which it must. */
async function answersTo(text: string): Promise<Answer[]> {
  const connection = await openConnection(gateway.port);
  connection.send(Buffer.from(text.replaceAll('KEY', key), 'latin1'));
  // A client that ends its side at once is taken for one that has left.
  await Promise.race([new Promise((resolve) => connection.socket.once('data', resolve)), sleep(20)]);
  connection.socket.end();
  assert.notEqual(await Promise.race([connection.closed, sleep(3000, 'hung', { ref: false })]), 'hung');
  const answers: Answer[] = [];
  const hasBody = !/^[\r\n]*HEAD/.test(text);
  for (let answer = await connection.answer({ hasBody }); answer; answer = await connection.answer())
    answers.push(answer);
  connection.destroy();
  return answers;
}

function assertDesigned({ status, headers, error }: Answer): void {
  if (status < 200) return;
  assert.match(headers['x-request-id'] ?? '', /^req_/);
  const code = headers['x-error-code'];
  // A browser at the root is led to the documentation.
  const isLed = status === 302 && headers.location === '/docs';
  if (code === undefined) assert.ok(status < 300 || isLed, String(status));
  else {
    assert.ok(Object.hasOwn(REFUSALS, code), code);
    assert.ok(status < 500 || status === 501 || status === 505, `${status} ${code}`);
    assert.equal(error.code ?? code, code);
  }
}

describe('a request that was changed', () => {
  it('gets an answer of the catalogue, and reaches the upstream as one request or does not reach it', {
    timeout: 900_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mutated, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (texts) => {
        for (const answers of await Promise.all(texts.map(answersTo))) answers.forEach(assertDesigned);
        assert.deepEqual(upstream.objections.splice(0), []);
        // A streamed body cannot be taken back when its client breaks off; the connection it was on ends with it.
        for (const text of upstream.truncated.splice(0)) assert.match(text, /^POST \/v1\/files HTTP|^[A-Z]+ \/pipe\//);
      }),
      { numRuns: RUNS },
    );
  });

  it('arrived at most once, as the log line of the request states', async () => {
    const arrived = upstream.requests.map(({ headers }) => headers.get('x-request-id'));
    assert.ok(arrived.length > RUNS / 4, 'some of them were let in');
    const idsOf = (lines: readonly Record<string, unknown>[]) => lines.map(({ request_id: id }) => id);
    const sentIds = () => idsOf(gateway.logLines().filter(({ target }) => target !== undefined));
    // The line of an exchange is written when it ends, which not every client waits for.
    const sent = await until(() => arrived.every((id) => sentIds().includes(id)) && sentIds()).catch(sentIds);
    const answered = idsOf(gateway.logLines().filter(({ upstream_status: status }) => status !== undefined));
    assert.deepEqual([...new Set(arrived)], arrived, 'none came twice');
    assert.deepEqual(
      arrived.filter((id) => !sent.includes(id)),
      [],
      'none came without being let in',
    );
    assert.deepEqual(
      answered.filter((id) => !arrived.includes(id as string)),
      [],
    );
    for (const { headers, target } of upstream.requests)
      assert.equal(headers.get('x-organization-id'), target.startsWith('/pipe/') ? undefined : 'org_test');
  });

  it('leaves the gateway unchanged', async () => {
    const codes = gateway.logLines().map(({ code }) => code);
    assert.ok(!codes.includes('internal_error'));
    const answer = await ask(gateway.port, requestOf('GET /v1/things', { Authorization: `Bearer ${key}` }));
    assert.equal(answer.status, 200);
  });
});
