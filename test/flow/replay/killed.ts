// A gateway that is killed after it has sent writes and before it has answered them, and the one that comes after it.

import assert from 'node:assert/strict';
import { LEASE_MARGIN_MS } from '../../../gateway/replay/replay.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { assertRefusal } from '../../support/errors.ts';
import { thingsContract } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';
import { installGateway, type Others } from './installed.ts';
import { newKey } from './keyed.ts';

export const start = closesAfterAll();
/** Long enough that a slow machine kills the gateway before it gives up. */
const TIMEOUT_MS = 2000;

/** Executes every request, each time anew, and answers when the test says so. */
async function startPlainUpstream(onArrival: () => void) {
  let answers = false;
  const upstream = await startUpstream((_request, response) => {
    onArrival();
    if (answers) response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"new"}');
  });
  return {
    ...upstream,
    answersFromNowOn() {
      answers = true;
    },
  };
}

/** Honours keys: the first request of a key makes a record and is never answered, the next ones get that record. */
async function startHonestUpstream(onArrival: () => void) {
  const records = new Map<string, string>();
  const upstream = await startUpstream(({ headers }, response) => {
    onArrival();
    const key = String(headers['idempotency-key']);
    const known = records.get(key);
    records.set(key, known ?? `record ${records.size + 1}`);
    if (known !== undefined)
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ id: known }));
  });
  return { ...upstream, records };
}

export const RISKY_PATH = '/v1/risky-things';
const HONEST_PATH = '/v1/honest-things';

/** Two upstreams of their own, the one with `whenOutcomeUnknown: run`, the other with `honoursIdempotencyKey`. */
function othersAt(risky: string, honest: string): Others {
  const contractOf = (path: string, operationId: string) => {
    const operation = {
      operationId,
      security: [{ apiKey: [`${path.slice('/v1/'.length)}:write`] }],
      requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
      responses: { 201: { description: 'done' } },
    };
    return { ...thingsContract(), paths: { [path]: { post: operation } } };
  };
  return {
    contracts: {
      'risky.yaml': contractOf(RISKY_PATH, 'createRiskyThing'),
      'honest.yaml': contractOf(HONEST_PATH, 'createHonestThing'),
    },
    upstreams: {
      risky: { contracts: ['risky.yaml'], live: risky, timeoutMs: TIMEOUT_MS, whenOutcomeUnknown: 'run' },
      honest: { contracts: ['honest.yaml'], live: honest, timeoutMs: TIMEOUT_MS, honoursIdempotencyKey: true },
    },
  };
}

export async function killInTheMiddle(redisUrl: string | undefined) {
  const [upstream, risky] = [await start(startPlainUpstream(kill)), await start(startPlainUpstream(kill))];
  const honest = await start(startHonestUpstream(kill));
  const entry = { timeoutMs: TIMEOUT_MS };
  const installed = await start(installGateway(upstream.url, redisUrl, entry, othersAt(risky.url, honest.url)));
  const first = await installed.start();
  /** At once when all have arrived, so that a machine that stands still gives the gateway no time to answer. */
  function kill(): void {
    if ([upstream, risky, honest].every(({ requests }) => requests.length === 1)) first.child.kill('SIGKILL');
  }
  const sentAtMs = Date.now();
  const [riskyKey, honestKey] = [newKey(), newKey()];
  const lost = [
    installed.post(first.port),
    installed.post(first.port, riskyKey, RISKY_PATH),
    installed.post(first.port, honestKey, HONEST_PATH),
  ].map((post) => assert.rejects(post));
  await Promise.all(lost);
  upstream.answersFromNowOn();
  risky.answersFromNowOn();
  const second = await start(installed.startAnother());
  return { upstream, risky, riskyKey, honest, honestKey, installed, second, sentAtMs };
}

type Killed = Awaited<ReturnType<typeof killInTheMiddle>>;

export async function neverRunsTwice({ upstream, installed, second, sentAtMs }: Killed): Promise<void> {
  for (const answer of [await installed.insist(second.port), await installed.insist(second.port)]) {
    assertRefusal(answer, 'idempotency_outcome_unknown', 409);
    assert.equal(answer.error.retryable, false);
    assert.equal(answer.error.sent_to, 'things');
    assert.ok(Math.abs(Date.parse(String(answer.error.sent_at)) - sentAtMs) < 60_000, String(answer.error.sent_at));
    assert.match(String(answer.error.original_request_id), /^req_/);
  }
  assert.equal(upstream.requests.length, 1, 'executed once');
  assert.equal((await installed.insist(second.port, newKey())).status, 201);
  assert.equal(upstream.requests.length, 2);
}

export async function isSentOnOnce({ honest, honestKey, installed, second, sentAtMs }: Killed): Promise<void> {
  const answer = await installed.insist(second.port, honestKey, HONEST_PATH);
  const waitedMs = Date.now() - sentAtMs;
  assert.ok(waitedMs >= TIMEOUT_MS + LEASE_MARGIN_MS, `${waitedMs} ms`);
  assert.deepEqual([answer.status, String(answer.body)], [201, '{"id":"record 1"}']);
  const keys = honest.requests.map((request) => request.headers['idempotency-key']);
  assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
  assert.equal(honest.records.size, 1);
  const again = await installed.post(second.port, honestKey, HONEST_PATH);
  assert.equal(again.headers['idempotent-replayed'], 'true');
}

/** When its lease is over, which the case before has awaited. */
export async function neverTakesTheKeyForAnother({ risky, riskyKey, installed, second }: Killed): Promise<void> {
  const before = risky.requests.length;
  const another = await installed.insist(second.port, riskyKey, RISKY_PATH, '{"name":"another"}');
  assertRefusal(another, 'idempotency_key_reused', 422);
  assert.equal(risky.requests.length, before);
  const again = await installed.insist(second.port, riskyKey, RISKY_PATH);
  assert.deepEqual([again.status, again.headers['idempotent-replayed']], [201, undefined]);
  assert.equal(risky.requests.length, before + 1);
}
