// However many identical writes with one key arrive at once, at however many instances, an upstream that would do each of them does one.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import { type GatewayOptions, startGateway, type TestGateway } from '../../support/gateway.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { newKey, THING } from './keyed.ts';

const CLIENTS = 100;

/** Slow, so that all clients are there before the first is answered, and without any memory for keys. */
function startSlowUpstream(): Promise<FakeUpstream> {
  let made = 0;
  return startUpstream(async (_request, response) => {
    made += 1;
    const body = JSON.stringify({ id: made });
    await sleep(300);
    response.writeHead(201, { 'content-type': 'application/json' }).end(body);
  });
}

/** Each client goes to the next gateway, with that gateway's own key of the one organization, and returns while the test runs. */
async function sendAll(gateways: readonly TestGateway[], organization: string): Promise<Answer[]> {
  const keys: string[] = [];
  for (const gateway of gateways) keys.push((await gateway.issueKey({ organization })).key);
  const idempotencyKey = newKey();
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
  const conflicts = new Set<unknown>();

  async function send(client: number): Promise<Answer> {
    for (;;) {
      const at = client % gateways.length;
      const authorization = { Authorization: `Bearer ${keys[at]}` };
      const request = requestOf('POST /v1/things', { ...headers, ...authorization }, THING);
      const answer = await ask(gateways[at]?.port as number, request);
      // On a busy machine Redis may answer too late, and then nothing was sent.
      const isLate = gateways.length > 1 && answer.error.code === 'gateway_overloaded';
      if (answer.status !== 409 && !isLate) return answer;
      if (!isLate) conflicts.add(answer.error.code);
      await sleep(50);
    }
  }

  const answers = await Promise.all(Array.from({ length: CLIENTS }, (_, client) => send(client)));
  assert.deepEqual([...conflicts], ['idempotency_key_in_use']);
  return answers;
}

function assertOneRun(answers: readonly Answer[], upstream: FakeUpstream): void {
  assert.equal(upstream.requests.length, 1);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  assert.deepEqual(new Set(answers.map(({ body }) => String(body))), new Set(['{"id":1}']));
  const replayed = answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true');
  assert.equal(replayed.length, CLIENTS - 1);
  const [first] = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined);
  for (const { headers } of replayed) assert.equal(headers['original-request-id'], first?.headers['x-request-id']);
  assert.equal(new Set(answers.map(({ headers }) => headers['x-request-id'])).size, CLIENTS, 'ids of their own');
}

async function withGateways(
  count: number,
  options: GatewayOptions,
  work: (gateways: readonly TestGateway[], upstream: FakeUpstream) => Promise<void>,
): Promise<void> {
  const upstream = await startSlowUpstream();
  const gateways: TestGateway[] = [];
  try {
    for (let i = 0; i < count; i++) gateways.push(await startGateway({ ...thingsAt(upstream.url), ...options }));
    await work(gateways, upstream);
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await upstream.close();
  }
}

describe('a hundred identical writes at once', () => {
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  it('run once on three instances that share a Redis', () =>
    withGateways(3, { environment: { REDIS_URL: redis.url } }, async (gateways, upstream) => {
      assertOneRun(await sendAll(gateways, `org_${newKey()}`), upstream);
    }));

  it('run once on one instance with its embedded store', () =>
    withGateways(1, {}, async (gateways, upstream) => {
      assertOneRun(await sendAll(gateways, 'org_one'), upstream);
    }));
});
