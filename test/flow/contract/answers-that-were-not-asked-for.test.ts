// 206, 304 and 416 follow from a request. Where they do not, an upstream could give part of a body, or none, past `response: refuse`.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { httpAnswer, type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts';

const schema = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };
const content = { 'application/json': { schema } };
const get = (operationId: string, response: string, responses: object = {}) => ({
  get: {
    operationId,
    'x-gateway-response': response,
    responses: { 200: { description: 'fine', content }, ...responses },
  },
});
const contract = {
  openapi: '3.1.1',
  info: { title: 'Items', version: '1' },
  'x-gateway-public': true,
  paths: {
    '/refused': get('refused', 'refuse'),
    '/default': get('default', 'refuse', { default: { description: 'else', content } }),
    '/named': get('named', 'refuse', { 206: { description: 'some', content }, 304: { description: 'same' } }),
    '/reported': get('reported', 'report'),
  },
};

describe('an answer that was not asked for', () => {
  let upstream: ScriptedUpstream;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startScriptedUpstream();
    gateway = await startGateway({
      contracts: { 'items.json': contract },
      upstreams: { items: { contracts: ['items.json'], live: upstream.url, breaker: 'off' } },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  function answered(path: string, status: number, body: string, headers = {}, asking = {}): Promise<Answer> {
    upstream.plays((socket) => socket.write(httpAnswer(status, body, headers)));
    return ask(gateway.port, requestOf(`GET ${path}`, asking));
  }

  const parts = [
    ['of JSON', '{"password":"x"', { 'Content-Range': 'bytes 0-14/99' }],
    ['that is whole', '{"id":1}', { 'Content-Range': 'bytes 0-7/8' }],
    ['without a place', '{"secret":1}', {}],
    ['of several parts', '--x\r\n\r\n{"secret":1}\r\n--x--', { 'Content-Type': 'multipart/byteranges; boundary=x' }],
    ['of another type', 'secret', { 'Content-Type': 'text/plain' }],
  ] as const;
  for (const [what, body, headers] of parts) {
    for (const asking of [{}, { Range: 'bytes=0-14' }]) {
      it(`is refused where answers are: a 206 ${what}, ${JSON.stringify(asking)}`, async () => {
        for (const path of ['/refused', '/default']) {
          const answer = await answered(path, 206, body, headers, asking);
          assert.deepEqual([answer.status, answer.error.code], [502, 'upstream_contract_violation'], path);
          assert.equal(answer.body.includes('secret') || answer.body.includes('password'), false);
        }
      });
    }
  }

  it('is refused there: a 304 without a condition, and passes with one', async () => {
    for (const path of ['/refused', '/default'])
      assert.equal((await answered(path, 304, '')).error.code, 'upstream_contract_violation', path);
    assert.equal((await answered('/refused', 304, '', {}, { 'If-None-Match': '"a"' })).status, 304);
  });

  it('is checked like every other answer where the contract names its status', async () => {
    assert.equal((await answered('/named', 206, '{"id":1}')).status, 206);
    assert.equal((await answered('/named', 206, '{"id":"1"}')).error.code, 'upstream_contract_violation');
    assert.equal((await answered('/named', 304, '')).status, 304);
  });

  it('is reported where answers are reported, and parts that were asked for are not', async () => {
    const place = { 'Content-Range': 'bytes 0-3/8' };
    const violations = () => gateway.logLines().at(-1)?.answer_violations as readonly string[] | undefined;
    assert.equal((await answered('/reported', 206, '{"id', place)).status, 206);
    assert.match(violations()?.[0] ?? '', /^status 206/);
    assert.equal((await answered('/reported', 206, '{"id', place, { Range: 'bytes=0-3' })).status, 206);
    assert.equal(violations(), undefined);
    assert.equal((await answered('/reported', 206, '{"id', place, { Range: 'bytes=4-7' })).status, 206);
    assert.match(violations()?.[0] ?? '', /^status 206/, 'another part');
  });

  it('is an answer that breaks HTTP: a 416 without a range', async () => {
    for (const path of ['/refused', '/reported'])
      assert.equal((await answered(path, 416, '{}')).error.code, 'upstream_bad_response', path);
    const asked = await answered('/reported', 416, '{}', { 'Content-Range': 'bytes */8' }, { Range: 'bytes=9-' });
    assert.deepEqual([asked.status, asked.headers['content-range']], [416, 'bytes */8']);
  });
});
