// The target of a request, written so that the gateway checks one thing and the upstream serves another.

import { type AttackCase, arrives, broken, get, passes, raw, refused } from './case.ts';

const malformed = refused('400 malformed_path');

const paths: readonly AttackCase[] = [
  ...[
    ...['/v1/things/a%2Fb', '/v1/things/a%2fb', '/v1/things%2Fa', '/v1/things/..%2F..%2Fadmin', '/v1/things/a%5Cb'],
    ...[
      '/v1/things/%5c..%5cadmin',
      '/v1%2Fthings',
      '/%2Fv1/things',
      '/v1/things/.',
      '/v1/things/..',
      '/v1/things/../orders',
    ],
    ...[
      '/v1/./things',
      '/./v1/things',
      '/../v1/things',
      '/v1/things/%2e',
      '/v1/things/%2E%2e',
      '/v1/things/.%2e/orders',
    ],
    ...['/v1/things/%2e./orders', '/%2e%2e/v1/things', '/..', '/.', '//v1/things', '/v1//things', '/v1/things//', '//'],
    ...[
      '///evil.test/v1/things',
      '/v1/things/%00',
      '/v1/things/a%00.json',
      '/v1/things/a;b=c',
      '/v1/things;a=b',
      '/v1;/things',
    ],
    ...['/;/v1/things', '/v1/..;/things', '/v1/things/a\\b', '/v1\\things', '/v1/things/..\\..\\admin', '/v1/things/%'],
    ...[
      '/v1/things/%4',
      '/v1/things/%zz',
      '/v1/things/%u002e',
      '/v1/things/%%32%65',
      '/v1/things/%c0%ae',
      '/v1/things/%c0%af',
    ],
    ...[
      '/v1/things/%c1%9c',
      '/v1/things/%e0%80%ae',
      '/v1/things/%f0%80%80%ae',
      '/v1/things/%f8%80%80%80%ae',
      '/v1/things/%ff',
    ],
    ...['/v1/things/%fe%ff', '/v1/things/%ed%a0%80', '/v1/things/%f4%90%80%80', '/v1/things/%c3', '/v1/things/%80'],
    ...[
      '/v1/things/%0d%0aX:y',
      '/v1/things/%0a',
      '/v1/things/%7f',
      '/v1/things/%09',
      '/v1/things/%1b%5b2J',
      '/v1/things/a|b',
    ],
    ...['/v1/things/a"b', '/v1/things/<a>', '/v1/things/{id}', '/v1/things/[a]', '/v1/things/a^b', '/v1/things/`a`'],
    ...['/v1/things?q="', '/v1/things#', '/v1/things/a#b', '/v1/things?q=a#&limit=1', '/v1/things?#'],
  ].map((target) => ({ name: `the target ${target}`, sent: get(target), ...malformed })),
  ...[
    '/v1/things/\xe4',
    '/v1/things/\x80',
    '/v1/things?q=\xff',
    '/v1/things/\x00',
    '/v1/things/\x7f',
    'v1/things',
    '?q=a',
    '\\v1\\things',
    '/v1/things /a',
    'http:/v1/things',
    'https:v1/things',
    'http://a#/v1/things',
  ].map((target) => ({ name: `the target ${JSON.stringify(target)}`, sent: get(target), ...broken })),
  ...['*', 'ftp://a/v1/things', 'ws://a/v1/things', 'file:///etc/passwd', 'gopher://a:70/1'].map((target) => ({
    name: `the target ${target}`,
    sent: get(target),
    ...malformed,
  })),
];

/** Looks like a trick and is none: one segment, decoded once, and built anew. */
const plain: readonly AttackCase[] = [
  ...[
    ['/v1/things/%252e%252e', '/v1/things/%252e%252e'],
    ['/v1/things/%252Fetc%252Fpasswd', '/v1/things/%252Fetc%252Fpasswd'],
    ['/v1/things/%25252e', '/v1/things/%25252e'],
    ['/v1/things/%2500', '/v1/things/%2500'],
    ['/v1/things/...', '/v1/things/...'],
    ['/v1/things/.hidden', '/v1/things/.hidden'],
    ['/v1/things/a..', '/v1/things/a..'],
    ['/v1/things/a.', '/v1/things/a.'],
    ['/v1/things/a%2e', '/v1/things/a.'],
    ['/v1/things/a%20b', '/v1/things/a%20b'],
    ['/v1/things/%20', '/v1/things/%20'],
    ['/v1/things/+', '/v1/things/+'],
    ['/v1/things/%41', '/v1/things/A'],
    ['/v1/%74hings/a', '/v1/things/a'],
    ['/%76%31/things', '/v1/things'],
    ['/v1/things/%3b', '/v1/things/%3B'],
    ['/v1/things/%3Fadmin=1', '/v1/things/%3Fadmin=1'],
    ['/v1/things/%23', '/v1/things/%23'],
    ['/v1/things/%E2%88%95', '/v1/things/%E2%88%95'],
    ['/v1/things/%EF%BC%8F', '/v1/things/%EF%BC%8F'],
    ['/v1/things/%E3%80%82%E3%80%82', '/v1/things/%E3%80%82%E3%80%82'],
    ['/v1/things/a%CC%88', '/v1/things/a%CC%88'],
    ['/v1/things/%C2%85', '/v1/things/%C2%85'],
    ['/v1/things/%E2%80%AEgpj', '/v1/things/%E2%80%AEgpj'],
    ['/v1/things/%EF%BB%BF', '/v1/things/%EF%BB%BF'],
    ['/v1/things/a:cancel', '/v1/things/a:cancel'],
    ['/v1/things/a@b', '/v1/things/a@b'],
    ['/v1/things/__proto__', '/v1/things/__proto__'],
    ['/v1/things/*', '/v1/things/*'],
    ['/v1/things?', '/v1/things'],
    ['/v1/things?q=%00%0d%0a', '/v1/things?q=%00%0d%0a'],
    ['/v1/things?q=/../..//;\\?', '/v1/things?q=/../..//%3B\\?'],
    ['/v1/things?q=a;limit=100000', '/v1/things?q=a%3Blimit=100000'],
    ['/v1/things?q=;;', '/v1/things?q=%3B%3B'],
    ['/v1/things?&&q=a&', '/v1/things?&&q=a&'],
    ['/v1/things?q=a%26q=b', '/v1/things?q=a%26q=b'],
    ['/v1/things?%71=a', '/v1/things?%71=a'],
  ].map(([sent = '', arriving = '']) => ({
    name: `the target ${sent} is taken literally`,
    sent: get(sent),
    ...passes(arrives(`GET ${arriving}`)),
  })),
  ...[
    '/v1/%2574hings/a',
    '/V1/things',
    '/v1/THINGS',
    '/v1/things/',
    '/v1/things/a/',
    '/v1/things/a/b',
    '/',
    '/v1',
    '/v1/%EF%BD%94hings',
  ].map((target) => ({
    name: `the target ${target} is nothing that is served`,
    sent: get(target),
    ...refused('404 route_not_found'),
  })),
  ...['/v2/things', '/v01/things'.replace('0', '9')].map((target) => ({
    name: `the target ${target} is of a version that there is not`,
    sent: get(target),
    ...refused('404 version_unknown'),
  })),
];

const queries: readonly AttackCase[] = [
  ...[
    'q=a&q=b',
    'q=a&%71=b',
    'q[]=a',
    'q[x]=a',
    'Q=a',
    'q%00=a',
    'q%20=a',
    '+q=a',
    '__proto__=a',
    'constructor[prototype]=a',
    'q=%',
    'q=%ff',
    'q=%c0%ae',
    'admin=1',
    ';q=a',
    '=a',
  ].map((query) => ({
    name: `the query ${query}`,
    sent: get(`/v1/things?${query}`),
    ...refused('400 validation_failed'),
  })),
];

/** RFC 9112 section 3.2.2: the authority of the target counts, and Host does not. */
const absolute: readonly AttackCase[] = [
  {
    name: 'an absolute target with an authority that replaces Host',
    sent: get('http://api.example.com:81/v1/things?q=a'),
    ...passes(arrives('GET /v1/things?q=a', { host: 'api.example.com:81' })),
  },
  {
    name: 'an absolute target with another scheme, in other letters',
    sent: get('HTTPS://Api.Example.com/v1/things'),
    ...passes(arrives('GET /v1/things', { host: 'Api.Example.com' })),
  },
  {
    name: 'an absolute target at an address inside goes where all requests go',
    sent: get('http://127.0.0.1:22/v1/things'),
    ...passes(arrives('GET /v1/things', { host: '127.0.0.1:22' })),
  },
  {
    name: 'an absolute target does not excuse a missing Host',
    sent: raw('GET http://a/v1/things HTTP/1.1', 'Authorization: Bearer KEY', '', ''),
    ...broken,
  },
  ...[
    'http:///v1/things',
    'http://a"b/v1/things',
    'http://u@a/v1/things',
    'http://u:p@a/v1/things',
    'http://a:b/v1/things',
    'http://a\\b/v1/things',
    'http://a;b@c/v1/things',
  ].map((target) => ({
    name: `the absolute target ${target}`,
    sent: get(target),
    client: [...(/^http:\/\/\//.test(target) ? ['400 malformed_path', 'open'] : ['400 malformed_http', 'closed'])],
  })),
  ...['http://a/v1/../admin', 'http://a//admin', 'http://a/v1/things/%2e%2e', 'http://a/v1/things#b'].map((target) => ({
    name: `the absolute target ${target}`,
    sent: get(target),
    ...malformed,
  })),
  ...['http://a', 'http://a?q=a', 'http://a/.well-known/jwks.json/..'].map((target) => ({
    name: `the absolute target ${target}`,
    sent: get(target),
    client: target.endsWith('..') ? ['400 malformed_path', 'open'] : ['404 route_not_found', 'open'],
  })),
];

export const targetCases: readonly AttackCase[] = [...paths, ...plain, ...queries, ...absolute];
