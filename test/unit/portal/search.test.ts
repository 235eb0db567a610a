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
  ['Operation', 'Upload a file', 'POST /v1/files', 'uploadFile'],
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

test('a slip in a short word is mended beside other words', () => {
  assert.deepEqual(titles('upload fle'), ['Upload a file']);
});

test('two slips, and a slip in a short word, find nothing', () => {
  for (const text of ['csutmer', 'lsy', 'zzzz']) assert.deepEqual(titles(text), []);
});

test('a word is found at its beginning only', () => {
  assert.ok(!titles('try').includes('Your entry'));
  assert.deepEqual(titles('stomer'), []);
  assert.deepEqual(titles('/v1/inv'), ['List invoices']);
});

test('a title stands above a text, and an error code that has a similar word by chance is left out', () => {
  assert.deepEqual(titles('customers').slice(0, 2), ['List customers']);
  assert.deepEqual(titles('customer'), ['List customers']);
  assert.deepEqual(titles('invoices customer'), ['List invoices']);
  assert.deepEqual(titles('retry'), ['Idempotency', 'Sending it again', 'upstream_timeout']);
});

const paths = [
  ['Operation', 'List jobs', 'GET /v1/jobs'],
  ['Operation', 'Create a job', 'POST /v1/jobs'],
  ['Operation', 'Retrieve a job', 'GET /v1/jobs/{job_id}'],
  ['Operation', 'Jobless', 'GET /v1/jobless'],
  ['Guide', 'Quickstart', 'GET /v1/jobs is the first request'],
].map(([kind = '', title = '', context = '']) => toSearched([kind, title, '/', context, '']));

for (const [text, ...expected] of [
  ['/v1/jobs/job_123', 'Retrieve a job'],
  ['https://api.example.com/v1/jobs/job_123?expand=a#b', 'Retrieve a job'],
  ['v1/jobs/{id}', 'Retrieve a job'],
  ['jobs/{job_id}', 'Retrieve a job'],
  ['POST /v1/jobs', 'Create a job'],
  ['delete /v1/jobs/{id}', 'Retrieve a job'],
  ['/v1/jobs/', 'List jobs', 'Create a job', 'Retrieve a job'],
  ['/v1/jobl', 'Jobless'],
  ['/v1/jobs/1/2', ...[]],
  ['/v2/jobs', ...[]],
] as const)
  test(`the path "${text}" finds its operations`, () => {
    assert.deepEqual(
      found(paths, text).map(({ title }) => title),
      expected,
    );
  });

test('what hardly fits beside clear finds is left out; alone it is found', () => {
  const entry = (kind: string, title: string, context = '', words = '') =>
    toSearched([kind, title, '/', context, words]);
  const all = [
    entry('Resource', 'Invoices', 'Platform'),
    entry('Operation', 'Delete a job', 'DELETE /v1/jobs/{id}', 'deleteJob A job that an invoice names is kept.'),
    entry(
      'Operation',
      'Delete a customer',
      'DELETE /v1/customers/{id}',
      'deleteCustomer One that a job names is kept.',
    ),
    entry('Field', 'job_id', 'List invoices'),
    entry('Guide', 'Idempotency', '', 'An id for the payment of a customer.'),
    ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => entry('Field', 'metadata', name)),
  ];
  const titlesOf = (text: string) => found(all, text).map(({ title }) => title);
  assert.deepEqual(titlesOf('invoice'), ['Invoices']);
  assert.deepEqual(titlesOf('payment'), ['Idempotency']);
  assert.equal(titlesOf('metadata').length, 5);
  assert.deepEqual(titlesOf('delete job'), ['Delete a job']);
  assert.ok(!titlesOf('job id').includes('Idempotency'), 'a word of two letters is no beginning of another');
});

test('a topic is found by a word that tells it, and words beside it alone do not', () => {
  assert.equal(titles('login')[0], 'Signing in');
  assert.equal(titles('browser session')[0], 'Signing in');
  assert.deepEqual(titles('browser cookie'), []);
});
