// The gateway checks the answers of an upstream against the contract: it reports differences by default and refuses them where the contract
// says so.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const schema = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer' }, secret: { type: 'string', readOnly: true } },
};

function operation(id: string, check: object) {
  const content = { 'application/json': { schema }, 'text/csv': {} };
  return { get: { operationId: id, ...check, responses: { 200: { description: 'fine', content } } } };
}

const contract = {
  openapi: '3.1.1',
  info: { title: 'Items', version: '1' },
  'x-gateway-public': true,
  paths: {
    '/reported': operation('reported', {}),
    '/refused': operation('refused', {
      'x-gateway-response': 'refuse',
      // Also where clients may choose a media type.
      parameters: [{ name: 'Accept-Encoding', in: 'header', schema: { type: 'string' } }],
    }),
    '/off': operation('off', { 'x-gateway-response': 'off' }),
  },
};

describe('answers of an upstream', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let answer: { type: string; body: string | Buffer; coding?: string | undefined } = {
    type: 'application/json',
    body: '{}',
  };
  let nowMs = Date.now();
  before(async () => {
    upstream = await startUpstream((_request, response) => {
      response.setHeader('content-type', answer.type);
      if (answer.coding !== undefined) response.setHeader('content-encoding', answer.coding);
      response.end(answer.body);
    });
    gateway = await startGateway({
      contracts: { 'items.json': contract },
      upstreams: { items: { contracts: ['items.json'], live: upstream.url } },
      now: () => nowMs,
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function get(path: string, body: string | Buffer, type = 'application/json', coding?: string) {
    answer = { type, body, coding };
    // One answer per operation and second is looked at.
    nowMs += 2000;
    const received = await fetch(`${gateway.url}${path}`);
    const text = await received.text();
    return { status: received.status, text, line: gateway.logLines().at(-1) };
  }
  const violationsCounted = async () => {
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    const line = /^gateway_validation_failures_total\{direction="response",http_route="\/reported"\} (\d+)$/m.exec(
      metrics,
    );
    return Number(line?.[1] ?? 0);
  };

  it('are passed on and reported when they do not match, with places and without values', async () => {
    const { status, text, line } = await get('/reported', '{"id":"top secret"}');
    assert.deepEqual([status, text], [200, '{"id":"top secret"}']);
    assert.deepEqual(line?.answer_violations, ['/id: wrong_type']);
    assert.equal(line?.level, 40);
    assert.ok(!JSON.stringify(line).includes('top secret'));
    assert.equal(await violationsCounted(), 1);
    assert.deepEqual((await get('/reported', '{}')).line?.answer_violations, ['/id: required']);
    assert.deepEqual((await get('/reported', '{')).line?.answer_violations, ['the body is not JSON']);
    assert.equal(await violationsCounted(), 3);
  });

  it('may carry undeclared members, and members that only the service may set', async () => {
    const { status, line } = await get('/reported', '{"id":1,"secret":"x","more":true}');
    assert.deepEqual([status, line?.answer_violations], [200, undefined]);
  });

  it('are looked at once per second where they are only reported', async () => {
    await get('/reported', '{"id":1}');
    nowMs -= 1500;
    assert.equal((await get('/reported', '{}')).line?.answer_violations, undefined);
  });

  it('are refused when they do not match, where the contract says so', async () => {
    const refused = await get('/refused', '{"id":"top secret"}');
    assert.equal(refused.status, 502);
    const { error } = JSON.parse(refused.text);
    assert.equal(error.code, 'upstream_contract_violation');
    assert.ok(!refused.text.includes('top secret'));
    assert.deepEqual(refused.line?.answer_violations, ['/id: wrong_type']);
    const fine = await get('/refused', '{"id":1}');
    assert.deepEqual([fine.status, fine.text], [200, '{"id":1}']);
  });

  it('that are encoded, and so cannot be checked, are refused where their content would be refused', async () => {
    const json = '{"id":1}';
    for (const [body, coding] of [
      [json, 'gzip'],
      [gzipSync(json), 'gzip'],
      [json, 'identity, br'],
      [json, 'aes128gcm'],
    ] as const) {
      const refused = await get('/refused', body, 'application/json', coding);
      assert.equal(refused.status, 502, coding);
      const { error } = JSON.parse(refused.text);
      assert.equal(error.code, 'upstream_bad_response');
      assert.match(JSON.stringify(refused.line), /content coding/);
      assert.equal(refused.line?.answer_violations, undefined);
    }
    for (const coding of ['identity', 'Identity', '']) {
      const fine = await get('/refused', json, 'application/json', coding);
      assert.deepEqual([fine.status, fine.text], [200, json]);
    }
  });

  it('that are encoded pass where they would only be reported, and a decoded copy is checked', async () => {
    const { status, text, line } = await get('/reported', gzipSync('{"id":1}'), 'application/json', 'gzip');
    assert.deepEqual([status, text, line?.answer_violations], [200, '{"id":1}', undefined]);
    const wrong = await get('/reported', gzipSync('{"id":"1"}'), 'application/json', 'gzip');
    assert.deepEqual([wrong.text, wrong.line?.answer_violations], ['{"id":"1"}', ['/id: wrong_type']]);
    assert.equal((await get('/off', gzipSync('{}'), 'application/json', 'gzip')).text, '{}');
  });

  it('are requested without an encoding where they are refused, even if the client asks for one', async () => {
    await get('/refused', '{"id":1}');
    assert.equal(upstream.requests.at(-1)?.headers['accept-encoding'], 'identity');
    await get('/reported', '{"id":1}');
    assert.notEqual(upstream.requests.at(-1)?.headers['accept-encoding'], 'identity');
  });

  it('are not looked at where the contract says so', async () => {
    const { status, line } = await get('/off', '{}');
    assert.deepEqual([status, line?.answer_violations], [200, undefined]);
  });

  it('of another media type than is declared are refused where the contract says so', async () => {
    for (const [path, status] of [
      ['/reported', 200],
      ['/refused', 502],
      ['/off', 200],
    ] as const)
      assert.equal((await get(path, '<p>', 'text/html')).status, status, path);
  });
});
