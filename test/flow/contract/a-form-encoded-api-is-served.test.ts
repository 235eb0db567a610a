import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ForeignGateway, serveForeign } from './foreign-gateway.ts';
import { paymentsDocument } from './payments-document.ts';

describe('an API with form bodies', () => {
  let foreign: ForeignGateway;
  before(async () => {
    foreign = await serveForeign(paymentsDocument, { answers: ['application/json', 'application/pdf'] });
  });
  after(() => foreign.stop());
  const form = 'application/x-www-form-urlencoded';

  it('takes forms as they are, and nothing else', async () => {
    const body = 'amount=2000&currency=usd&metadata[order]=6735&metadata[note]=a+b%26c';
    const charge = await foreign.send('POST', '/v1/charges', { body, type: form });
    assert.deepEqual([charge.status, charge.reached?.url], [200, '/v1/charges']);
    assert.equal(charge.reached?.body.toString(), body);
    assert.equal(charge.reached?.headers['content-type'], form);
    assert.equal(
      (await foreign.send('POST', '/v1/charges', { body: { amount: 2000 } })).code,
      'unsupported_media_type',
    );
    assert.equal((await foreign.send('POST', '/v1/charges')).status, 200);
    const wrong = await foreign.send('POST', '/v1/charges', {
      body: 'amount=much&metadata[a][b]=c&note=d',
      type: form,
    });
    assert.deepEqual(wrong.violations, [
      'body /amount wrong_type',
      'body /metadata/a wrong_type',
      'body /note unknown',
    ]);
  });

  it('has operations without a body that could have one', async () => {
    const path = '/v1/charges/ch_1/refunds/re_1';
    assert.equal((await foreign.send('DELETE', path)).status, 200);
    const told = await foreign.send('DELETE', path, { body: 'reason=duplicate', type: form });
    assert.deepEqual([told.status, told.reached?.body.toString()], [200, 'reason=duplicate']);
    assert.equal((await foreign.send('DELETE', path, { body: {} })).code, 'unsupported_media_type');
    assert.equal((await foreign.send('GET', '/v1/charges/ch_1')).status, 200);
  });

  it('has lists in the query as names with brackets', async () => {
    for (const query of ['expand[]=customer&expand[]=data', 'expand[0]=customer', 'expand%5B%5D=customer']) {
      const charge = await foreign.send('GET', `/v1/charges/ch_1?${query}`);
      assert.deepEqual([charge.status, charge.reached?.url], [200, `/v1/charges/ch_1?${query}`], query);
    }
    const tooLong = await foreign.send('GET', `/v1/charges/ch_1?expand[]=customer&expand[]=${'x'.repeat(5001)}`);
    assert.deepEqual(tooLong.violations, ['query expand[1] too_long']);
    assert.deepEqual((await foreign.send('GET', '/v1/charges/ch_1?expnd[]=a')).violations, ['query expnd[] unknown']);
  });

  it('has a parameter that is a number or a range of them', async () => {
    for (const query of ['created=1700000000', 'created[gte]=1700000000&created[lt]=1800000000&limit=3'])
      assert.equal((await foreign.send('GET', `/v1/charges?${query}`)).reached?.url, `/v1/charges?${query}`);
    assert.deepEqual((await foreign.send('GET', '/v1/charges?created[gte]=now&limit=101')).violations, [
      'query created.gte wrong_type',
      'query limit too_large',
    ]);
    assert.deepEqual((await foreign.send('GET', '/v1/charges?created=now')).violations, ['query created no_match']);
    assert.deepEqual((await foreign.send('GET', '/v1/charges?created=1&created[gt]=1')).violations, [
      'query created[gt] duplicate',
    ]);
  });

  it('has files sent to it and fetched from it', async () => {
    const body = new FormData();
    body.append('file', new Blob(['x']), 'x.png');
    assert.deepEqual((await foreign.send('POST', '/v1/files', { body })).violations, ['body /purpose required']);
    body.append('purpose', 'logo');
    assert.equal((await foreign.send('POST', '/v1/files', { body })).status, 200);
    assert.equal((await foreign.send('POST', '/v1/files')).code, 'body_missing');
    assert.equal(
      (await foreign.send('GET', '/v1/quotes/qt_1/pdf', { headers: { accept: 'application/pdf' } })).status,
      200,
    );
    // Answers of undeclared media types pass, so the service decides about Accept.
    assert.equal((await foreign.send('GET', '/v1/quotes/qt_1/pdf', { headers: { accept: 'text/csv' } })).status, 200);
  });

  it('refuses a request that matches no operation', async () => {
    assert.equal((await foreign.send('PUT', '/v1/charges/ch_1')).code, 'method_not_allowed');
    assert.equal((await foreign.send('GET', '/v1/payouts')).code, 'route_not_found');
    assert.deepEqual((await foreign.send('GET', `/v1/charges/${'x'.repeat(21)}`)).violations, ['path charge too_long']);
  });
});
