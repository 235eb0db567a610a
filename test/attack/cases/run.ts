// Plays the rows of the table: each on a connection of its own, all against one gateway and an upstream that keeps every byte.

import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorCode, REFUSALS } from '../../../gateway/catalogue/errors.ts';
import { type Answer, type Connection, openConnection } from '../../support/connection.ts';
import { assertErrorHeaders, assertRefusal } from '../../support/errors.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../../support/recording-upstream.ts';
import type { StrictRequest } from '../../support/strict-http.ts';
import { thingsAt } from '../../support/things.ts';
import { type AttackCase, get } from './case.ts';
import { LIMITS } from './limits.ts';

/** Rows expect nothing that never comes, so only a failure waits for so long. */
const SOON_MS = 20_000;

/** The attacked process. */
interface Besieged {
  readonly gateway: TestGateway;
  readonly upstream: RecordingUpstream;
  readonly key: { readonly id: string; readonly key: string };
  close(): Promise<void>;
}

/** Declares headers, some of them under names that only the gateway may write. */
const colors = {
  operationId: 'listColors',
  security: [{ apiKey: ['colors:read'] }],
  parameters: ['X-Color', 'X_Request_Id', 'X-Organization-Id', 'X-Gateway-Color', 'X-Forwarded-Color'].map((name) => ({
    name,
    in: 'header',
    schema: { type: 'string' },
  })),
  responses: { 200: { description: 'done', content: { 'application/json': { schema: {} } } } },
};

/** Requires a header, without which no request may reach the upstream. */
const shades = {
  ...colors,
  operationId: 'listShades',
  parameters: [{ name: 'X-Tenant', in: 'header', required: true, schema: { type: 'string' } }],
};

/** The paths of the table beside the usual things. */
export const casePaths = { '/v1/colors': { get: colors }, '/v1/shades': { get: shades } };

export async function besiege(): Promise<Besieged> {
  const upstream = await startRecordingUpstream();
  const gateway = await startGateway({
    ...thingsAt(upstream.url, {}, casePaths),
    gateway: { limits: LIMITS },
  });
  return {
    gateway,
    upstream,
    key: await gateway.issueKey(),
    async close() {
      await gateway.stop();
      await upstream.close();
    },
  };
}

/** Registers one test per row. The process is read when a test runs, since hooks make it. */
export function runAttacks(cases: readonly AttackCase[], besieged: () => Besieged): void {
  for (const attack of cases) it(attack.name, () => play(attack, besieged()));
}

async function play(attack: AttackCase, besieged: Besieged): Promise<void> {
  const { sent, ends, client, upstream = [] } = attack;
  const { gateway, key } = besieged;
  assert.deepEqual(besieged.upstream.take(), [], 'nothing came late from the row before');
  const connection = await openConnection(gateway.port);
  try {
    connection.send(Buffer.from(sent.replaceAll('KEY', key.key), 'latin1'));
    if (ends) connection.socket.end();
    const answers = await answersOn(connection, attack);
    const seen = besieged.upstream.take();
    const state = client.at(-1) === 'open' ? await probe(connection, besieged) : await endOf(connection);
    assert.deepEqual([...answers.map(outcomeOf), state], client);
    // Over several connections, their order of reading is undefined.
    assert.deepEqual(seen.map((request) => masked(request, besieged, answers)).toSorted(), upstream.toSorted());
    assert.deepEqual(besieged.upstream.objections.splice(0), []);
    assert.deepEqual(besieged.upstream.truncated.splice(0), []);
    for (const answer of answers) assertDesigned(answer, sent.startsWith('HEAD '));
  } finally {
    connection.destroy();
  }
}

/** As many as are expected; all until the end where that is expected. */
async function answersOn(connection: Connection, { sent, client }: AttackCase): Promise<Answer[]> {
  const answers: Answer[] = [];
  const most = client.at(-1) === 'open' ? client.length - 1 : Number.POSITIVE_INFINITY;
  while (answers.length < most) {
    const answer = await soon(connection.answer({ hasBody: !sent.startsWith('HEAD ') }));
    if (answer === undefined) break;
    answers.push(answer);
  }
  return answers;
}

async function endOf(connection: Connection): Promise<string> {
  const how = await soon(connection.closed);
  return how === 'end' && connection.rest().length === 0 ? 'closed' : `${how ?? 'open'} ${connection.rest()}`;
}

/** Whether the next request on the connection gets its own answer, and the upstream nothing else. */
async function probe(connection: Connection, { upstream, key }: Besieged): Promise<string> {
  connection.send(get('/v1/things/probe', 'X-Request-Id: probe').replace('KEY', key.key));
  const answer = await soon(connection.answer());
  const targets = upstream.take().map(({ target }) => target);
  const isMine = answer?.headers['x-client-request-id'] === 'probe' && targets.join() === '/v1/things/probe';
  return isMine ? 'open' : `not in step: ${answer?.status} ${answer?.body} ${targets}`;
}

function outcomeOf({ status, headers }: Answer): string {
  const code = headers['x-error-code'];
  return code === undefined ? String(status) : `${status} ${code}`;
}

/** The rules for every refusal; every other answer is the upstream's or has no content. */
function assertDesigned(answer: Answer, isHead: boolean): void {
  assert.equal(answer.reason, STATUS_CODES[answer.status]);
  const code = answer.headers['x-error-code'];
  if (code === undefined) assert.ok(isHead || answer.status !== 200 || answer.body.toString() === '{}');
  else if (isHead) assertErrorHeaders(answer, REFUSALS[code as ErrorCode]);
  else assertRefusal(answer, code);
}

/** A request with words in the place of varying values, each of which has to have its form. */
function masked({ text }: StrictRequest, { upstream, key }: Besieged, answers: readonly Answer[]): string {
  const ids = new Set(answers.map(({ headers }) => headers['x-request-id']));
  return text
    .replace(`\r\nhost: ${new URL(upstream.url).host}\r\n`, '\r\nhost: UPSTREAM\r\n')
    .replace(/^x-request-id: (\S+)$/m, (line, id) => (ids.has(id) ? 'x-request-id: REQUEST-ID' : line))
    .replace(/^traceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-03$/m, 'traceparent: TRACE')
    .replace(`\r\nx-api-key-id: ${key.id}\r\n`, '\r\nx-api-key-id: KEY-ID\r\n')
    .replace(/^x-gateway-assertion: [\w-]+\.[\w-]+\.[\w-]{86}$/m, 'x-gateway-assertion: ASSERTION');
}

/** Undefined when it takes so long that it will not come. */
function soon<T>(promise: Promise<T>): Promise<T | undefined> {
  return Promise.race([promise, sleep(SOON_MS, undefined, { ref: false })]);
}
