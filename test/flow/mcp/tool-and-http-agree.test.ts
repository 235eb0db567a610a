// For random operations and arguments, a call by tool and the same call over HTTP have the same verdict, the same bytes at the upstream and
// the same counts. The requests over HTTP are made by this test, not by the gateway.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import { type AgentWorld, agentAt, startAgents } from '../../support/agents.ts';
import { ask, requestOf } from '../../support/connection.ts';
import type { Recorded } from '../../support/upstream.ts';

const RUNS = 80 * Number(process.env.LIMIT_RUNS ?? 1);

interface Trial {
  readonly tool: string;
  readonly given: Record<string, unknown>;
  readonly line: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

type Random = () => number;

/** A small generator (mulberry32): a failure names its seed. */
function randomOf(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const texts = [
  'a',
  'Ada Vandermeer',
  'é ü',
  '100%',
  'a+b',
  'a&b=c',
  '[x]',
  "it's",
  '~',
  '"quoted"',
  '日本',
  'x'.repeat(70),
  '-1',
  '007',
  'a;b',
  '#',
];
const identifiers = [...texts, 'rec_1', '..', '.', '%2F', 'a/b', 'a\\b', 'a?b', '%2e%2e', ' '];
const numbers = [1, 50, 100, 101, 0, -3, 2.5, 1e21];

function trialOf(random: Random): Trial {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const some = () => random() < 0.5;
  // A number of more than 2^53 in a parameter is refused in a call by tool: it may have been rounded before it arrived.
  const value = () => pick([pick(texts), pick(numbers.slice(0, 7)), some()]);
  const plain = (one: unknown) => String(one);
  const kind = pick(['list', 'get', 'create', 'replace', 'remove', 'form', 'secret'] as const);
  if (kind === 'list') {
    const given: Record<string, unknown> = {};
    const pairs: string[] = [];
    const headers: Record<string, string> = {};
    const add = (name: string, one: unknown) =>
      pairs.push(
        `${encodeURIComponent(name).replaceAll('%5B', '[').replaceAll('%5D', ']')}=${encodeURIComponent(plain(one))}`,
      );
    if (some()) given.limit = pick(numbers.slice(0, 7));
    if (some()) given.cursor = value();
    if (some()) given.state = [pick(texts), pick(texts)].slice(0, 1 + Math.floor(random() * 2));
    if (some()) given.sort = ['a', pick(['b', 'c'])];
    if (some()) given.filter = { [pick(['x', 'name'])]: value() };
    if (some()) given['X-Trace-Label'] = pick(['plain', 'two words', 'x'.repeat(50)]);
    for (const [name, one] of Object.entries(given)) {
      if (name === 'X-Trace-Label') headers[name] = String(one);
      else if (name === 'sort') add(name, (one as string[]).join(','));
      else if (Array.isArray(one)) for (const item of one) add(name, item);
      else if (typeof one === 'object')
        for (const [key, item] of Object.entries(one as object)) add(`filter[${key}]`, item);
      else add(name, one);
    }
    return {
      tool: 'listRecords',
      given,
      line: `GET /v1/records${pairs.length > 0 ? '?' : ''}${pairs.join('&')}`,
      headers,
      body: undefined,
    };
  }
  const id = pick(identifiers);
  const at = `/v1/records/${encodeURIComponent(id)}`;
  if (kind === 'get') return { tool: 'getRecord', given: { id }, line: `GET ${at}`, headers: {}, body: undefined };
  if (kind === 'remove')
    return { tool: 'deleteRecord', given: { id }, line: `DELETE ${at}`, headers: {}, body: undefined };
  if (kind === 'secret')
    return { tool: 'readSecrets', given: {}, line: 'GET /v1/secrets', headers: {}, body: undefined };
  if (kind === 'form') {
    const given = { title: pick(texts), ...(some() ? { count: pick(numbers.slice(0, 7)) } : {}) };
    const body = Object.entries(given)
      .map(([name, one]) => `${name}=${encodeURIComponent(plain(one))}`)
      .join('&');
    return {
      tool: 'submitForm',
      given: { body: given },
      line: 'POST /v1/forms',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body,
    };
  }
  const tree = { name: pick(texts), children: [{ name: value() }] };
  const record = {
    ...(some() ? { name: value() } : {}),
    ...(some() ? { amount: pick(numbers) } : {}),
    ...(some() ? { tree } : {}),
    ...(random() < 0.2 ? { other: 1 } : {}),
  };
  const body = JSON.stringify(record);
  const headers = { 'Content-Type': 'application/json' };
  return kind === 'create'
    ? { tool: 'createRecord', given: { body: record }, line: 'POST /v1/records', headers, body }
    : { tool: 'replaceRecord', given: { id, body: record }, line: `PUT ${at}`, headers, body };
}

/** What an upstream gets of a request, without what is new for each. */
function bytesOf({ method, url, headers, body }: Recorded): object {
  const own = /^(?:x-request-id|traceparent|x-gateway-assertion|x-api-key-id|x-organization-id)$/;
  const others = Object.entries(headers).filter(([name]) => !own.test(name));
  return { method, url, headers: Object.fromEntries(others), body: body.toString('latin1') };
}

let world: AgentWorld;
before(async () => {
  world = await startAgents();
  world.answers((request, response) => {
    response.writeHead(request.url.length % 5 === 0 ? 404 : 200, { 'content-type': 'application/json' });
    response.end('{"id":"rec_1","name":"Ada","message":"no such record"}');
  });
});
after(() => world.close());

it(`agree in ${RUNS} random calls`, async () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  const random = randomOf(seed);
  const { gateway, upstream } = world;
  const scopes = ['records:read', 'records:write'];
  const [byTool, byHttp] = [`org_${randomUUID()}`, `org_${randomUUID()}`];
  const [tool, http] = [
    await gateway.authorize({ organization: byTool, scopes }),
    await gateway.authorize({ organization: byHttp, scopes }),
  ];
  const agent = agentAt(gateway.port, { Authorization: tool.authorization });
  const verdicts = new Set<string>();
  for (let run = 0; run < RUNS; run += 1) {
    const { tool: name, given, line, headers, body } = trialOf(random);
    const told = `seed ${seed}, run ${run}: ${name} ${JSON.stringify(given)} and ${line} ${body ?? ''}`;
    const from = upstream.requests.length;
    // A number is no key of idempotency, which the request over HTTP has none of.
    const called = await agent.call(name, given, { id: run });
    const ofTool = upstream.requests.slice(from).map(bytesOf);
    const all = { Host: 'localhost:8080', Authorization: http.authorization, ...headers };
    const asked = await ask(gateway.port, requestOf(line, all, body));
    const ofHttp = upstream.requests.slice(from + ofTool.length).map(bytesOf);
    const { result } = called;
    const verdict = [result._meta['gateway/status'], result.structuredContent.error?.code];
    assert.deepEqual(verdict, [asked.status, asked.error?.code], told);
    assert.deepEqual(ofTool, ofHttp, told);
    const { request_id: _, ...ofError } = result.structuredContent.error ?? {};
    const { request_id: __, ...expected } = asked.error ?? {};
    assert.deepEqual(ofError, expected, told);
    verdicts.add(verdict.join(' '));
  }
  assert.ok(verdicts.size >= 4, [...verdicts].join(', '));
  const lines = gateway.logLines();
  const lastOf = (organization: string) =>
    lines.findLast((one) => one.organization === organization && one.limit_remaining !== undefined);
  assert.equal(lastOf(byTool)?.limit_remaining, lastOf(byHttp)?.limit_remaining);
});
