// What a client developer types into the search, and what has to come first of the documentation as it is.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startDocumentation } from '../../support/documentation.ts';
import type { TestGateway } from '../../support/gateway.ts';

interface Found {
  readonly kind: string;
  readonly title: string;
  readonly path: string;
  readonly context: string;
}

// The scripts of the pages have no types.
const script = new URL('../../../gateway/portal/assets/search-rank.js', import.meta.url).href;
const { found, toSearched } = (await import(script)) as {
  found(entries: readonly Found[], text: string): Found[];
  toSearched(entry: readonly string[]): Found;
};

const FIRST: Readonly<Record<string, string>> = {
  'rotate key': 'Guide /docs/guides/authentication#replacing-a-key',
  'revoke key': 'Operation /docs/reference/gateway/revokeKey',
  'api key': 'Guide /docs/guides/authentication',
  'how do I get a key': 'Guide /docs/guides/quickstart#get-a-key',
  'where is my key?': 'Guide /docs/guides/authentication',
  'send sms': 'Operation /docs/reference/v1/createCommunication',
  'send a text message': 'Operation /docs/reference/v1/createCommunication',
  401: 'Guide /docs/guides/authentication',
  403: 'Guide /docs/guides/authentication#scopes',
  429: 'Error /docs/errors/rate_limited',
  404: 'Error /docs/errors/route_not_found',
  validation_failed: 'Error /docs/errors/validation_failed',
  'error codes': 'Page /docs/errors',
  errors: 'Guide /docs/guides/errors',
  retry: 'Guide /docs/guides/errors#sending-it-again',
  backoff: 'Guide /docs/guides/errors#sending-it-again',
  'retry a POST': 'Guide /docs/guides/idempotency',
  'retry-after': 'Guide /docs/guides/rate-limits#when-it-is-used-up',
  timeout: 'Guide /docs/guides/errors#failures-without-an-object',
  'request id': 'Guide /docs/guides/errors#asking-about-a-request',
  'x-request-id': 'Guide /docs/guides/errors#asking-about-a-request',
  pagination: 'Guide /docs/guides/pagination',
  'next page': 'Guide /docs/guides/pagination',
  cursor: 'Field /docs/reference/v1/listBookings#query-cursor',
  sort: 'Field /docs/reference/v1/listBookings#query-sort',
  filter: 'Guide /docs/guides/pagination#filters-and-order',
  idempotency: 'Guide /docs/guides/idempotency',
  'Idempotency-Key': 'Field /docs/reference/v1/createBooking#header-Idempotency-Key',
  party_size: 'Field /docs/reference/v1/createBooking#body-party_size',
  amount_paid: 'Field /docs/reference/v1/invoices#object-amount_paid',
  sandbox: 'Guide /docs/guides/authentication#live-and-test',
  'date format': 'Guide /docs/guides/quickstart#dates-and-other-formats',
  timezone: 'Guide /docs/guides/quickstart#dates-and-other-formats',
  'ISO 8601': 'Guide /docs/guides/quickstart#dates-and-other-formats',
  'test key': 'Guide /docs/guides/authentication#live-and-test',
  status: 'Page https://status.example.com/',
  contact: 'Page mailto:help@example.com',
  sdk: 'Guide /docs/guides/sdks',
  python: 'Guide /docs/guides/sdks#python',
  golang: 'Guide /docs/guides/sdks#make-a-client',
  openapi: 'Guide /docs/guides/sdks#the-contract',
  postman: 'Reference /docs/reference/v1',
  changelog: 'Page /docs/changes',
  version: 'Guide /docs/guides/versioning',
  deprecated: 'Guide /docs/guides/versioning#when-something-ends',
  mcp: 'Page /docs/agents',
  'llms.txt': 'Page /docs/agents',
  streaming: 'Operation /docs/reference/v1/watchFiles',
  webhook: 'Page /docs/reference/v1/watchFiles',
  callbacks: 'Page /docs/reference/v1/watchFiles',
  refund: 'nothing',
  'fly to the moon': 'nothing',
  unit_amount: 'Field /docs/reference/v1/createInvoice#body-line_items-unit_amount',
  cancelled: 'Operation /docs/reference/v1/updateBooking',
  'c#': 'Guide /docs/guides/sdks#make-a-client',
  'cancel a booking': 'Operation /docs/reference/v1/updateBooking',
  'cancel job': 'Operation /docs/reference/v1/updateJob',
  'delete a booking': 'Operation /docs/reference/v1/deleteBooking',
  'how many requests can I send': 'Guide /docs/guides/rate-limits',
  'too many requests': 'Error /docs/errors/rate_limited',
  'base url': 'Reference /docs/reference/v1',
  websocket: 'Operation /docs/reference/v1/openFileSocket',
  upload: 'Operation /docs/reference/v1/uploadFile',
  'rate limit': 'Guide /docs/guides/rate-limits',
  'what is my quota': 'Page /docs/limits',
  usage: 'Page /docs/account',
  cors: 'Guide /docs/guides/authentication#in-a-browser',
  scope: 'Guide /docs/guides/authentication#scopes',
  'get started': 'Guide /docs/guides/quickstart',
  'create customer': 'Operation /docs/reference/v1/createCustomer',
  bookings: 'Resource /docs/reference/v1/bookings',
  'get customer': 'Operation /docs/reference/v1/retrieveCustomer',
  'GET /v1/customers': 'Operation /docs/reference/v1/listCustomers',
  '/v1/jobs/job_123?x=1': 'Operation /docs/reference/v1/retrieveJob',
  too_large: 'Error /docs/errors/validation_failed#too_large',
  required: 'Error /docs/errors/validation_failed#required',
};

describe('the search', () => {
  let gateway: TestGateway;
  let entries: Found[];
  before(async () => {
    gateway = await startDocumentation();
    const index = (await (await fetch(`${gateway.url}/docs/search.json`)).json()) as { entries: string[][] };
    entries = index.entries.map(toSearched);
  });
  after(() => gateway?.stop());

  it('has what is looked for as its first result', () => {
    const first = (query: string) => {
      const [one] = found(
        entries.filter(({ kind }) => kind !== 'Operators'),
        query,
      );
      return one === undefined ? 'nothing' : `${one.kind} ${one.path}`;
    };
    const firsts = Object.fromEntries(Object.keys(FIRST).map((query) => [query, first(query)]));
    assert.deepEqual(firsts, FIRST);
  });

  it('says of a field whether it is sent or received, and where', () => {
    const contextOf = (path: string) => entries.find((one) => one.path === `/docs/reference/v1/${path}`)?.context;
    assert.match(contextOf('listBookings#query-cursor') ?? '', /^Query of List bookings, and \d+ more$/);
    assert.match(contextOf('createBooking#header-Idempotency-Key') ?? '', /^Header of Create a booking, and \d+ more$/);
    assert.equal(contextOf('createBooking#body-party_size'), 'Body of Create a booking');
    assert.match(contextOf('invoices#object-amount_paid') ?? '', /^Object of invoices$/i);
  });

  it('leads to places that are there', async () => {
    const paths = new Set(entries.map((one) => one.path).filter((one) => one.startsWith('/')));
    const known = new Set((await textOf('/llms.txt')).match(/\/docs[\w/.-]*/g));
    for (const path of paths) {
      const [page = '', id] = path.split('#');
      if (id !== undefined) assert.ok((await textOf(page)).includes(`id="${id}"`), path);
      // What the list of pages has is there. To make each of them takes long.
      else if (!known.has(`${page}.md`)) await textOf(page);
    }
  });

  it('marks what only operators may use', () => {
    const alerts = entries.filter(({ path }) => path === '/docs/reference/gateway/listAlerts');
    assert.deepEqual(
      alerts.map(({ kind }) => kind),
      ['Operators'],
    );
  });

  const pages = new Map<string, string>();
  async function textOf(page: string): Promise<string> {
    const known = pages.get(page);
    if (known !== undefined) return known;
    const answer = await fetch(gateway.url + page, { headers: { accept: 'text/html' } });
    assert.equal(answer.status, 200, page);
    const text = await answer.text();
    pages.set(page, text);
    return text;
  }
});
