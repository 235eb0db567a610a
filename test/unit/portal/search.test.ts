import assert from 'node:assert/strict';
import { test } from 'node:test';

interface Entry {
  readonly kind: string;
  readonly title: string;
}

// The script of the pages has no types.
const script = new URL('../../../gateway/portal/assets/search-rank.js', import.meta.url).href;
const { found, toSearched } = (await import(script)) as {
  found(entries: readonly object[], text: string): Entry[];
  toSearched(entry: readonly string[]): object;
};

const entries = [
  ['Operation', 'List customers', 'GET /v1/customers', 'listCustomers list Customers'],
  ['Operation', 'List invoices', 'GET /v1/invoices', 'listInvoices list Invoices of a customer'],
  ['Guide', 'Idempotency', '', 'Sending a write again. Retry with the same key.'],
  ['Guide', 'Sending it again', 'Errors', 'When a program may retry.'],
  ['Error', 'duplicate_json_member', '400 invalid_request_error', 'A body has a member twice.'],
  ['Error', 'upstream_timeout', '504 api_error', 'The service did not respond. Retry later.'],
  ['Page', 'Your entry', '', 'About the entry.'],
  ['Guide', 'Signing in', '', 'Nothing more.', 'session login | browser cookie'],
].map(([kind = '', title = '', context = '', words = '', topic = '']) =>
  toSearched([kind, title, '/', context, words, topic]),
);
const titles = (text: string) => found(entries, text).map(({ title }) => title);

for (const slip of ['custmer', 'custoomer', 'cusotmer', 'custimer', 'dustomer', 'customrs', 'list custmers'])
  test(`"${slip}" finds customers`, () => {
    assert.equal(titles(slip)[0], 'List customers');
  });

test('two slips, and a slip in a short word, find nothing', () => {
  for (const text of ['csutmer', 'lsy', 'zzzz']) assert.deepEqual(titles(text), []);
});

test('a word is found at its beginning only', () => {
  assert.ok(!titles('try').includes('Your entry'));
  assert.deepEqual(titles('stomer'), []);
  assert.deepEqual(titles('/v1/inv'), ['List invoices']);
});

test('a title stands above a text, and what has the word above an error code that has a similar one', () => {
  assert.deepEqual(titles('customers').slice(0, 2), ['List customers']);
  assert.deepEqual(titles('customer'), ['List customers', 'List invoices']);
  const retry = titles('retry');
  assert.ok(retry.indexOf('duplicate_json_member') > retry.indexOf('upstream_timeout'), String(retry));
  assert.ok(retry.indexOf('duplicate_json_member') > retry.indexOf('Sending it again'), String(retry));
});

test('a topic is found by a word that tells it, and words beside it alone do not', () => {
  assert.equal(titles('login')[0], 'Signing in');
  assert.equal(titles('browser session')[0], 'Signing in');
  assert.deepEqual(titles('browser cookie'), []);
});
