// `live: "examples:"` answers from the contract: its examples, else values made from the schema.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startPlanned } from './planned.ts';

const place = (headers: Record<string, string> = {}) =>
  [
    'POST /v1/orders',
    { 'Content-Type': 'application/json', ...headers },
    JSON.stringify({ total: 3, state: 'open' }),
  ] as const;

describe('an upstream that is answered for from its contract', () => {
  let world: Awaited<ReturnType<typeof startPlanned>>;
  before(async () => {
    world = await startPlanned({
      entry: { response: 'refuse' },
      paths: {
        '/v1/notes': {
          get: {
            operationId: 'getNotes',
            responses: {
              200: {
                description: 'x',
                content: { 'text/plain': { schema: { type: 'string' } }, 'application/json': {} },
              },
            },
          },
        },
        '/v1/picture': {
          get: { operationId: 'getPicture', responses: { 200: { description: 'x', content: { 'image/*': {} } } } },
        },
        '/v1/events': {
          get: {
            operationId: 'watch',
            responses: {
              200: {
                description: 'x',
                content: { 'text/event-stream': { schema: { type: 'object', properties: { n: { const: 7 } } } } },
              },
            },
          },
        },
        '/v1/impossible': {
          get: {
            operationId: 'getImpossible',
            responses: {
              200: {
                description: 'x',
                content: { 'application/json': { schema: { type: 'string', minLength: 2, maxLength: 1 } } },
              },
            },
          },
        },
      },
    });
  });
  after(() => world.gateway.stop());

  it('gives the first example of the usual answer', async () => {
    const { status, headers, body } = await world.call('GET /v1/orders');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'application/json');
    assert.deepEqual(JSON.parse(String(body)), { data: [{ id: 'ord_00000001', total: 5, state: 'open' }] });
  });

  it('makes a value from the schema where there is no example, without write-only members', async () => {
    const { status, body } = await world.call('GET /v1/orders/ord_9');
    assert.equal(status, 200);
    const order = JSON.parse(String(body));
    assert.match(order.id, /^ord_[0-9a-z]{8}$/);
    assert.ok(order.total >= 1);
    assert.equal(order.secret, undefined);
    assert.match(order.placed_at, /^\d{4}-/);
  });

  it('makes the headers that the contract requires, and a Location below the path', async () => {
    const { status, headers, body } = await world.call(...place());
    assert.equal(status, 201);
    assert.equal(headers.location, `/v1/orders/${JSON.parse(String(body)).id}`);
    assert.equal(headers.etag, '"example"');
    assert.match(String(headers['x-place']), /^[A-Z]{2}$/);
  });

  it('answers HEAD without a body, and 204 without a type', async () => {
    const head = await world.call('HEAD /v1/orders');
    assert.equal(head.status, 200);
    assert.ok(Number(head.headers['content-length']) > 0);
    const removed = await world.call('DELETE /v1/orders/ord_9');
    assert.equal(removed.status, 204);
    assert.equal(removed.headers['content-type'], undefined);
  });

  it('answers in the media type that Accept prefers', async () => {
    const text = await world.call('GET /v1/notes', { Accept: 'application/json;q=0.5, text/plain' });
    assert.equal(text.headers['content-type'], 'text/plain');
    assert.ok(String(text.body).length > 0);
    const json = await world.call('GET /v1/notes', { Accept: 'application/json' });
    assert.equal(json.headers['content-type'], 'application/json');
    const picture = await world.call('GET /v1/picture');
    assert.equal(picture.headers['content-type'], 'image/png');
    assert.equal(picture.body.subarray(1, 4).toString(), 'PNG');
  });

  it('sends a few events of a stream', async () => {
    const { headers, body } = await world.call('GET /v1/events');
    assert.equal(headers['content-type'], 'text/event-stream');
    assert.deepEqual(String(body).match(/^data: .*$/gm), Array(3).fill('data: {"n":7}'));
  });

  it('refuses with upstream_error where the contract allows no valid answer', async () => {
    const { status, error } = await world.call('GET /v1/impossible');
    assert.equal(status, 501);
    assert.equal(error.code, 'upstream_error');
    const warned = world.gateway
      .logLines()
      .filter(({ msg }) => String(msg).startsWith('the contract allows no valid answer'));
    assert.deepEqual(
      warned.map(({ operation, status: of }) => [operation, of]),
      [['getImpossible', 200]],
    );
  });

  it('is validated, authorized, counted and replayed like any other', async () => {
    const wrong = await world.call(
      'POST /v1/orders',
      { 'Content-Type': 'application/json' },
      '{"total":0,"state":"open"}',
    );
    assert.equal(wrong.error.code, 'validation_failed');
    const { authorization } = await world.gateway.authorize({ scopes: ['other:read'] });
    const lacking = await world.call('GET /v1/orders', { Authorization: authorization });
    assert.equal(lacking.error.code, 'insufficient_scope');
    const key = { 'Idempotency-Key': 'one-order' };
    const first = await world.call(...place(key));
    const again = await world.call(...place(key));
    assert.equal(first.headers['idempotent-replayed'], undefined);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.deepEqual(again.body, first.body);
    assert.match(String(first.headers.ratelimit), /^"organization"/);
  });

  it('is named in the log line and in the status', async () => {
    const { headers } = await world.call('GET /v1/orders');
    const line = world.gateway.logLines().find(({ request_id: id }) => id === headers['x-request-id']);
    assert.equal(line?.target, 'examples:orders');
    const status = (await (await fetch(`${world.gateway.adminUrl}/status`)).json()) as Record<
      string,
      Record<string, object>
    >;
    assert.deepEqual(status.upstreams?.orders, { ...status.upstreams?.orders, from_contract: ['live'] });
    const told = world.gateway.logLines().find(({ msg }) => String(msg).includes('live keys are answered'));
    assert.deepEqual(told?.upstreams, ['orders']);
  });

  it('refuses test keys without `test`, as any upstream', async () => {
    const { authorization } = await world.gateway.authorize({ mode: 'test' });
    const { error } = await world.call('GET /v1/orders', { Authorization: authorization });
    assert.equal(error.code, 'key_mode_mismatch');
  });
});
