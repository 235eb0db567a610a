// Two documents with the same operationIds: one entry is named in full, the other keeps its names, and files may name either in full.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ConfigError } from '../../../gateway/shared/mistakes.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const responses = { 200: { description: 'fine', content: { 'application/json': {} } } };
const requestBody = { content: { 'application/json': { schema: { type: 'object' } } } };
const document = (path: string) => ({
  openapi: '3.1.0',
  info: { title: path, version: '1' },
  paths: {
    [`/v1${path}`]: {
      get: { operationId: 'list', responses },
      post: { operationId: 'create', requestBody, responses },
    },
  },
});
const contracts = { 'jobs.json': document('/jobs'), 'teams.json': document('/teams') };
const entry = (name: string, live: string, more: object = {}) => ({
  [name]: { contracts: [`${name}.json`], live, public: true, ...more },
});
const defaults = (operation: string, value: string) => ({ operations: [operation], defaults: { by: value } });

describe('two entries with operations of the same names', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startUpstream((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
    gateway = await startGateway({
      contracts,
      upstreams: {
        ...entry('jobs', upstream.url, { requests: [defaults('jobs.create', 'jobs')] }),
        ...entry('teams', upstream.url, {
          operationNames: 'qualified',
          requests: [defaults('create', 'teams')],
          operations: { list: { timeoutMs: 5000 } },
        }),
      },
      limits: {
        extra: { few: { requests: 1 } },
        operations: { 'jobs.list': { extra: 'few' }, 'teams.create': { cost: 7 } },
      },
      gateway: { operations: { 'jobs.list': { deprecated: '2026-01-01', successor: 'teams.list' } } },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const send = async (method: string, path: string) => {
    const body = method === 'POST' ? '{}' : undefined;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${gateway.url}/v1${path}`, { method, headers, ...(body && { body }) });
    await answer.arrayBuffer();
    return answer;
  };

  it('are refused until one entry is named in full', async () => {
    const both = { ...entry('jobs', upstream.url), ...entry('teams', upstream.url) };
    await assert.rejects(startGateway({ contracts, upstreams: both }), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.deepEqual(
        error.mistakes.map(({ place, reason, remedy }) => `${place}: ${reason} ${remedy}`),
        [
          'upstreams.teams: "jobs" has operations of the same names already: list and 1 more. Add "operationNames: qualified" to this entry: its operations are then called teams.list and so on.',
        ],
      );
      return true;
    });
  });

  it('have different names in the log and in published documents', async () => {
    for (const path of ['/jobs', '/teams']) assert.equal((await send('POST', path)).status, 200);
    const named = gateway.logLines().flatMap(({ operation }) => operation ?? []);
    assert.deepEqual(named, ['create', 'teams.create']);
    const published = (await (await fetch(`${gateway.url}/openapi/v1.json`)).json()) as {
      paths: Record<string, { get: { operationId: string } }>;
    };
    assert.deepEqual(
      Object.values(published.paths).map(({ get }) => get.operationId),
      ['list', 'teams.list'],
    );
  });

  it('are distinguished by rules, which may always name the entry', async () => {
    await send('POST', '/jobs');
    assert.equal(upstream.requests.at(-1)?.body.toString(), '{"by":"jobs"}');
    await send('POST', '/teams');
    assert.equal(upstream.requests.at(-1)?.body.toString(), '{"by":"teams"}');
  });

  it('are distinguished by limits and dates', async () => {
    const first = await send('GET', '/jobs');
    assert.deepEqual([first.status, first.headers.has('deprecation')], [200, true]);
    assert.match(first.headers.get('link') ?? '', /<[^>]*\/v1\/teams>; rel="successor-version"/);
    assert.equal((await send('GET', '/jobs')).status, 429);
    const other = await send('GET', '/teams');
    assert.deepEqual([other.status, other.headers.has('deprecation')], [200, false]);
  });
});
