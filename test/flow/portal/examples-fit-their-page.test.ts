// The examples of errors belong to the page that shows them, and every id of a page is there once.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REFUSALS } from '../../../gateway/catalogue/errors.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

describe('the examples of the documentation', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway?.stop());

  const read = async (path: string) => (await fetch(gateway.url + path)).text();

  it('name fields of their operation', async () => {
    const create = await read('/docs/reference/v1/createCustomer.md');
    assert.match(create, /"param": "name"/);
    assert.doesNotMatch(create, /line_items|"param": "limit"/);
    const list = await read('/docs/reference/v1/listCustomers.md');
    assert.match(list, /"in": "query",\s+"param": "\w+",/);
    assert.doesNotMatch(list, /line_items/);
    assert.match(await read('/docs/reference/v1/retrieveCustomer.md'), /"code": "insufficient_scope"/);
  });

  it('have the message and the request ids that the gateway sends', async () => {
    for (const operation of ['v1/createCustomer', 'v1/createBooking']) {
      const text = await read(`/docs/reference/${operation}.md`);
      assert.ok(text.includes(`"message": "${REFUSALS.rate_limited.message}"`), operation);
      const ids = text.match(/\breq_\w+/g) ?? [];
      assert.ok(ids.length > 2);
      for (const id of ids) assert.match(id, /^req_[0-9A-HJKMNP-TV-Z]{26}$/, operation);
    }
  });

  it('have the seconds of a code that says how long to wait', async () => {
    const waiting = Object.entries(REFUSALS).filter(([, { remedy }]) => remedy.includes('Retry-After'));
    assert.ok(waiting.length > 5);
    for (const [code] of waiting) assert.match(await read(`/docs/errors/${code}.md`), /"retry_after": \d+/, code);
  });

  it('are on pages that have each id once', async () => {
    const html = await read('/docs/reference/v1/createCustomer');
    const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
    );
  });
});
