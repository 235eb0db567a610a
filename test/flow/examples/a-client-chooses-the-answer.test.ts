// Prefer (RFC 7240) and documented values of parameters choose another declared answer.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startPlanned } from './planned.ts';

describe('a client of a contract that answers for its service', () => {
  let world: Awaited<ReturnType<typeof startPlanned>>;
  before(async () => {
    world = await startPlanned({ entry: { breaker: 'off' } });
  });
  after(() => world.gateway.stop());

  it('gets the status that it prefers, as the error object', async () => {
    const { status, headers, error } = await world.call('GET /v1/orders', { Prefer: 'code=404' });
    assert.equal(status, 404);
    assert.equal(headers['preference-applied'], 'code=404');
    assert.equal(error.code, 'order_missing');
    assert.equal(error.message, 'It is order_missing.');
    assert.ok(error.request_id);
  });

  it('gets the example that it prefers, of any declared answer', async () => {
    const empty = await world.call('GET /v1/orders', { Prefer: 'return=minimal, example="empty"; why=not' });
    assert.equal(empty.status, 200);
    assert.equal(empty.headers['preference-applied'], 'example=empty');
    assert.deepEqual(JSON.parse(String(empty.body)), { data: [] });
    const gone = await world.call('GET /v1/orders', { Prefer: 'example=order_gone' });
    assert.equal(gone.status, 410);
    assert.equal(gone.error.code, 'order_gone');
    const both = await world.call('GET /v1/orders', { Prefer: 'code=409, example=order_gone' });
    assert.deepEqual([both.status, both.error.code], [409, 'order_gone']);
    assert.equal(both.headers['preference-applied'], 'code=409, example=order_gone');
  });

  it('gets the usual answer for a preference that the contract cannot fulfil', async () => {
    for (const Prefer of ['code=503', 'code=abc', 'example=other', 'code', 'wait=10']) {
      const { status, headers } = await world.call('GET /v1/orders', { Prefer });
      assert.equal(status, 200, Prefer);
      assert.equal(headers['preference-applied'], undefined, Prefer);
    }
  });

  it('gets the answer that a parameter example is named for', async () => {
    const missing = await world.call('GET /v1/orders/ord_missing');
    assert.equal(missing.status, 404);
    assert.equal(missing.error.code, 'order_missing');
    const gone = await world.call('DELETE /v1/orders/ord_gone');
    assert.equal(gone.status, 410);
    assert.equal((await world.call('GET /v1/orders/ord_1')).status, 200);
  });

  it('overrules a parameter by Prefer', async () => {
    const { status } = await world.call('GET /v1/orders/ord_missing', { Prefer: 'code=200' });
    assert.equal(status, 200);
  });
});
