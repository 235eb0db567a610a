// Which requests may use a session: a row for each kind of browser, header, method and origin.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isCrossSite } from '../../../gateway/sessions/cross-site.ts';

const own = 'https://app.example.com';
const origins = new Set([own, 'https://admin.example.com']);

type Row = readonly [what: string, method: string, headers: Readonly<Record<string, string>>, isCrossSite: boolean];

const fetching = { 'sec-fetch-mode': 'cors' };
const navigating = { 'sec-fetch-mode': 'navigate' };

const rows: readonly Row[] = [
  // Browsers since 2020 say who asks.
  ['fetch of an own page', 'GET', { 'sec-fetch-site': 'same-origin', ...fetching }, false],
  ['fetch of an own page', 'POST', { 'sec-fetch-site': 'same-origin', ...fetching, origin: own }, false],
  [
    'form of an own page without a referrer',
    'POST',
    { 'sec-fetch-site': 'same-origin', ...navigating, origin: 'null' },
    false,
  ],
  ['link on an own page', 'GET', { 'sec-fetch-site': 'same-origin', ...navigating }, false],
  ['address that a person has typed', 'GET', { 'sec-fetch-site': 'none', ...navigating }, false],
  ['the same for its headers', 'HEAD', { 'sec-fetch-site': 'none', ...navigating }, false],
  ['a tool of the browser that is no navigation', 'GET', { 'sec-fetch-site': 'none', ...fetching }, true],
  ['a navigation that changes something', 'POST', { 'sec-fetch-site': 'none', ...navigating }, true],
  [
    'fetch of a subdomain',
    'GET',
    { 'sec-fetch-site': 'same-site', ...fetching, origin: 'https://evil.example.com' },
    true,
  ],
  [
    'fetch of a configured origin of the site',
    'GET',
    { 'sec-fetch-site': 'same-site', ...fetching, origin: own },
    true,
  ],
  [
    'form of a subdomain',
    'POST',
    { 'sec-fetch-site': 'same-site', ...navigating, origin: 'https://evil.example.com' },
    true,
  ],
  ['link on a subdomain', 'GET', { 'sec-fetch-site': 'same-site', ...navigating }, true],
  [
    'image on another site',
    'GET',
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    true,
  ],
  [
    'fetch of another site',
    'GET',
    { 'sec-fetch-site': 'cross-site', ...fetching, origin: 'https://evil.example' },
    true,
  ],
  [
    'fetch of another site',
    'DELETE',
    { 'sec-fetch-site': 'cross-site', ...fetching, origin: 'https://evil.example' },
    true,
  ],
  [
    'form of another site',
    'POST',
    { 'sec-fetch-site': 'cross-site', ...navigating, origin: 'https://evil.example' },
    true,
  ],
  [
    'form of another site without a referrer',
    'POST',
    { 'sec-fetch-site': 'cross-site', ...navigating, origin: 'null' },
    true,
  ],
  ['link on another site', 'GET', { 'sec-fetch-site': 'cross-site', ...navigating }, true],
  ['another site that claims an own origin', 'POST', { 'sec-fetch-site': 'cross-site', origin: own }, true],
  [
    'WebSocket of an own page',
    'GET',
    { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'websocket', upgrade: 'websocket', origin: own },
    false,
  ],
  [
    'WebSocket of another site',
    'GET',
    {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'websocket',
      upgrade: 'websocket',
      origin: 'https://evil.example',
    },
    true,
  ],
  [
    'event stream of an own page',
    'GET',
    { 'sec-fetch-site': 'same-origin', ...fetching, accept: 'text/event-stream' },
    false,
  ],
  [
    'event stream of another site',
    'GET',
    { 'sec-fetch-site': 'cross-site', ...fetching, accept: 'text/event-stream' },
    true,
  ],
  ['a value that no browser writes', 'GET', { 'sec-fetch-site': 'same-origin, cross-site' }, true],
  ['a value in another case', 'GET', { 'sec-fetch-site': 'Same-Origin' }, true],
  // Older ones, and browsers without TLS: the origin alone.
  ['old browser, fetch of an own page', 'POST', { origin: own }, false],
  ['old browser, page of another configured origin', 'POST', { origin: 'https://admin.example.com' }, false],
  ['old browser, form of another site', 'POST', { origin: 'https://evil.example' }, true],
  ['old browser, origin in another case', 'POST', { origin: 'https://App.example.com' }, true],
  ['old browser, own host without TLS', 'POST', { origin: 'http://app.example.com' }, true],
  ['old browser, own host at another port', 'POST', { origin: 'https://app.example.com:8443' }, true],
  ['old browser, own name as a prefix', 'POST', { origin: 'https://app.example.com.evil.example' }, true],
  ['old browser, sandboxed frame', 'POST', { origin: 'null' }, true],
  ['old browser, WebSocket of an own page', 'GET', { upgrade: 'websocket', origin: own }, false],
  ['old browser, WebSocket of another site', 'GET', { upgrade: 'websocket', origin: 'https://evil.example' }, true],
  ['a program with a cookie', 'GET', {}, true],
  ['a program with a cookie', 'POST', {}, true],
  ['a referrer alone', 'POST', { referer: `${own}/` }, true],
];

describe('a request with a session', () => {
  for (const [what, method, headers, expected] of rows) {
    it(`${expected ? 'is refused' : 'passes'}: ${method}, ${what}`, () => {
      const rules = { origins, requestHeader: undefined };
      assert.equal(isCrossSite({ method, headers: new Map(Object.entries(headers)) }, rules), expected);
    });
  }
});

describe('with a request header', () => {
  const rules = { origins, requestHeader: 'x-requested-by' };
  const asked = (headers: Readonly<Record<string, string>>, method = 'GET') =>
    isCrossSite({ method, headers: new Map(Object.entries({ 'sec-fetch-site': 'same-origin', ...headers })) }, rules);

  it('it is required of fetch, also of safe methods', () => {
    assert.equal(asked(fetching), true);
    assert.equal(asked(fetching, 'POST'), true);
    assert.equal(asked({ ...fetching, 'x-requested-by': '0' }), true);
    assert.equal(asked({ ...fetching, 'x-requested-by': '1' }), false);
  });

  it('it helps no other site', () => {
    assert.equal(asked({ ...fetching, 'x-requested-by': '1', 'sec-fetch-site': 'cross-site' }), true);
  });

  it('it is not required where a page cannot send one', () => {
    assert.equal(asked({ upgrade: 'websocket' }), false);
    assert.equal(asked({ ...fetching, accept: 'text/event-stream' }), false);
    assert.equal(asked(navigating), false);
  });
});
