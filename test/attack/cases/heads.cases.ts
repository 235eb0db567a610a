// The first line and the header lines: bytes that readers split differently, versions, hosts, expectations and upgrades.

import { type AttackCase, arrives, broken, ended, get, head, passes, post, raw } from './case.ts';

const authorized = 'Authorization: Bearer KEY';

const lines: readonly AttackCase[] = [
  ...[
    ['a bare LF', 'X-A: b\nX-Injected: yes'],
    ['a bare CR', 'X-A: b\rX-Injected: yes'],
    ['CR CR LF', 'X-A: b\r\r\nX-Injected: yes'],
    ['NUL in a value', 'X-A: b\x00'],
    ['NUL in a name', 'X\x00A: b'],
    ['a backspace in a value', 'X-A: b\x08'],
    ['an escape in a value', 'X-A: \x1b[2J'],
    ['DEL in a value', 'X-A: \x7f'],
    ['a space in a name', 'X A: b'],
    ['a space before the colon', 'X-A : b'],
    ['a tab before the colon', 'X-A\t: b'],
    ['a vertical tab before the colon', 'X-A\x0b: b'],
    ['no name', ': b'],
    ['no colon', 'X-A'],
    ['a folded line', 'X-A: b\r\n c'],
    ['a line folded by a tab', 'X-A: b\r\n\tc'],
    ['a folded line that is empty', 'X-A: b\r\n '],
    ['a slash in a name', 'X/A: b'],
    ['a quote in a name', 'X"A: b'],
    ['brackets in a name', 'X[A]: b'],
    ['braces in a name', '{X-A}: b'],
    ['an at sign in a name', 'X@A: b'],
    ['a comma in a name', 'X,A: b'],
    ['a semicolon in a name', 'X;A: b'],
    ['an equals sign in a name', 'X=A: b'],
    ['a backslash in a name', 'X\\A: b'],
    ['a letter above ASCII in a name', 'X-\xc4: b'],
    ['the name of a pseudo-header', ':path: /v1/admin'],
    ['another request line', 'GET /v1/things/smuggled HTTP/1.1'],
  ].map(([what = '', line = '']) => ({ name: `a header line with ${what}`, sent: get('/v1/things', line), ...broken })),
  {
    name: 'a line before all others that begins with a space',
    sent: raw('GET /v1/things HTTP/1.1', ' X-A: b', 'Host: api.test', authorized, '', ''),
    ...broken,
  },
  {
    name: 'names of odd but proper characters stay here',
    sent: get('/v1/things', "!#$%&'*+-.^_`|~: 1", '__proto__: 1', 'constructor: 1', '0: 1', 'toString: 1'),
    ...passes(arrives('GET /v1/things')),
  },
  {
    name: 'a value of odd but proper characters crosses as it is',
    sent: get('/v1/things', 'Prefer:\t a"\\\t\xff;b=<c>,{}\t'),
    ...passes(arrives('GET /v1/things', { lines: ['prefer: a"\\\t\xff;b=<c>,{}'] })),
  },
  {
    name: 'an empty value crosses as nothing',
    sent: get('/v1/things', 'Prefer:', 'Accept-Language:   '),
    ...passes(arrives('GET /v1/things', { lines: ['accept-language: ', 'prefer: '] })),
  },
  {
    name: 'several lines of a list become one, in their order',
    sent: get('/v1/things', 'If-None-Match: "a"', 'Prefer: x', 'if-none-match: "b"'),
    ...passes(arrives('GET /v1/things', { lines: ['if-none-match: "a", "b"', 'prefer: x'] })),
  },
  ...[
    'Content-Type',
    'Content-Encoding',
    'User-Agent',
    'If-Modified-Since',
    'X-Request-Id',
    'Traceparent',
    'Expect',
  ].map((name) => ({
    name: `two lines of a header that must be single: ${name}`,
    sent: get('/v1/things', `${name}: a`, `${name.toLowerCase()}: b`),
    ...broken,
  })),
];

const versions: readonly AttackCase[] = [
  { name: 'HTTP/0.9', sent: raw('GET /v1/things', '', ''), ...ended('505 http_version_not_supported') },
  {
    name: 'HTTP/1.0 without Host',
    sent: raw('GET /v1/things HTTP/1.0', authorized, '', ''),
    client: ['200', 'closed'],
    upstream: [arrives('GET /v1/things', { host: null })],
  },
  {
    name: 'HTTP/1.0 with a Host that is none',
    sent: raw('GET /v1/things HTTP/1.0', 'Host: a";by="b', authorized, '', ''),
    ...broken,
  },
  {
    name: 'HTTP/1.0 that waits for 100 Continue gets none',
    sent: post('{"name":"a"}', 'Expect: 100-continue').replace('HTTP/1.1', 'HTTP/1.0'),
    client: ['200', 'closed'],
    upstream: [arrives('POST /v1/things', { lines: ['content-type: application/json'], body: '{"name":"a"}' })],
  },
  ...['HTTP/2.0', 'HTTP/3.0', 'HTTP/0.9', 'HTTP/1.2', 'HTTP/1.9', 'HTTP/9.9'].map((version) => ({
    name: `${version} in the request line`,
    sent: get('/v1/things').replace('HTTP/1.1', version),
    ...ended('505 http_version_not_supported'),
  })),
  ...[
    'HTTP/1,1',
    'HTTP/11',
    'HTTP/1.10',
    'HTTP/01.1',
    'HTTP/1.1 ',
    'HTTP/1.1\t',
    'HTTP/1.-1',
    'HTTP/1.\xb9',
    'HTTP/1.1 junk',
    'HTTP/9.9 junk',
    'HTTP/2',
    'HTTP/x.1',
  ].map((version) => ({
    name: `${JSON.stringify(version)} in the request line`,
    sent: get('/v1/things').replace('HTTP/1.1', version),
    ...broken,
  })),
  ...['http/1.1', 'HTTP /1.1', 'HTTP', 'ICE/1.1', 'HTTPS/1.1', 'XHTTP/1.1'].map((version) => ({
    name: `${JSON.stringify(version)} in the request line`,
    sent: get('/v1/things').replace('HTTP/1.1', version),
    ...broken,
  })),
  { name: 'the preface of HTTP/2', sent: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', ...broken },
  { name: 'a TLS greeting', sent: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', ...broken },
  {
    name: 'a greeting of a PROXY protocol',
    sent: `PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n${get('/v1/things')}`,
    ...broken,
  },
  {
    name: 'a greeting of a PROXY protocol in bytes',
    sent: `\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c${get('/v1/things')}`,
    ...broken,
  },
  {
    name: 'empty lines before a request are passed over',
    sent: `\r\n\r\n${get('/v1/things')}`,
    ...passes(arrives('GET /v1/things')),
  },
  { name: 'a tab between method and target', sent: get('/v1/things').replace('GET ', 'GET\t'), ...broken },
  // Node's parser takes these two for HTTP/1.1. They begin and end where others do, and nothing of the difference is passed on.
  {
    name: 'two spaces between method and target become one',
    sent: get('/v1/things').replace('GET ', 'GET  '),
    ...passes(arrives('GET /v1/things')),
  },
  {
    name: 'the name of another protocol becomes that of this one',
    sent: get('/v1/things').replace('HTTP/1.1', 'RTSP/1.1'),
    ...passes(arrives('GET /v1/things')),
  },
  {
    name: 'a first line that ends in a bare LF',
    sent: get('/v1/things').replace('\r\n', '\n'),
    ...broken,
  },
  { name: 'a first line that ends in a bare CR', sent: get('/v1/things').replace('\r\n', '\r'), ...broken },
  {
    name: 'a head that ends in bare LFs',
    sent: raw('GET /v1/things HTTP/1.1', 'Host: api.test', authorized).concat('\n\n'),
    ...broken,
  },
];

const methods: readonly AttackCase[] = [
  ...['get', 'Get', 'FETCH', 'GETX', 'G\x00T', 'GET\x0b', 'DEBUG', 'TRACK'].map((method) => ({
    name: `the method ${JSON.stringify(method)}`,
    sent: head(`${method} /v1/things`),
    ...broken,
  })),
  ...['TRACE', 'PROPFIND', 'SEARCH', 'QUERY', 'PURGE', 'DELETE'].map((method) => ({
    name: `the method ${method}, which no operation has`,
    sent: head(`${method} /v1/things`),
    client: [
      `${['PROPFIND', 'SEARCH', 'PURGE'].includes(method) ? '501 method_not_implemented' : '405 method_not_allowed'}`,
      'open',
    ],
  })),
  { name: 'CONNECT', sent: head('CONNECT 127.0.0.1:22'), ...ended('405 method_not_allowed') },
  { name: 'CONNECT with a path', sent: head('CONNECT /v1/things'), ...ended('405 method_not_allowed') },
  ...['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', 'X_HTTP_METHOD_OVERRIDE'].map((name) => ({
    name: `another method by ${name}`,
    sent: get('/v1/things?q=a', `${name}: DELETE`),
    ...passes(arrives('GET /v1/things?q=a')),
  })),
  {
    name: 'another method by a parameter',
    sent: get('/v1/things?_method=DELETE'),
    client: ['400 validation_failed', 'open'],
  },
];

const hosts: readonly AttackCase[] = [
  { name: 'no Host', sent: raw('GET /v1/things HTTP/1.1', authorized, '', ''), ...broken },
  ...[
    ['two Hosts', 'Host: b'],
    ['one Host twice', 'Host: api.test'],
    ['two Hosts in other letters', 'hOST: b'],
    ['an empty second Host', 'Host:'],
  ].map(([name = '', line = '']) => ({ name, sent: get('/v1/things', line), ...broken })),
  ...[
    ...[
      '',
      'a b',
      'a,b',
      'a/b',
      'a?b',
      'a#b',
      'a@b',
      'user@api.test',
      'a:1:2',
      'a:x',
      'a"b',
      'a\\b',
      'a<b>',
      '[::1',
      '::1',
    ],
    ...[
      'a;b',
      'a=b',
      'a+b',
      'a!',
      'a%2e',
      '[::1]x',
      '[g::1]',
      'a\tb',
      'http://a',
      '\xe4',
      'a:-1',
      '%',
      'a|b',
      'a^b',
      '{a}',
    ],
  ].map((host) => ({
    name: `the Host ${JSON.stringify(host)}`,
    sent: raw('GET /v1/things HTTP/1.1', `Host: ${host}`, authorized, '', ''),
    ...broken,
  })),
  ...['localhost', '127.0.0.1:9090', '[::1]:80', 'metadata.internal', 'API.TEST.', 'a:0'].map((host) => ({
    name: `the Host ${host} goes to the upstream and chooses nothing`,
    sent: raw('GET /v1/things HTTP/1.1', `Host: ${host}`, authorized, '', ''),
    ...passes(arrives('GET /v1/things', { host })),
  })),
  {
    name: 'other names of the host are ignored',
    sent: get(
      '/v1/things',
      'X-Forwarded-Host: evil.test',
      'X-Host: evil.test',
      'X-Original-Host: evil.test',
      'Forwarded: host=evil.test',
    ),
    ...passes(arrives('GET /v1/things')),
  },
];

const expectations: readonly AttackCase[] = [
  { name: 'an unknown expectation', sent: get('/v1/things', 'Expect: the-worst'), ...ended('417 expectation_failed') },
  {
    name: 'two expectations on one line',
    sent: post('{"name":"a"}', 'Expect: 100-continue, 100-continue'),
    ...ended('417 expectation_failed'),
  },
  {
    name: 'an expectation with a parameter',
    sent: post('{"name":"a"}', 'Expect: 100-continue;q=1'),
    ...ended('417 expectation_failed'),
  },
  {
    name: 'an expectation in other letters',
    sent: post('{"name":"a"}', 'eXPECT: 100-CONTINUE'),
    client: ['100', '200', 'open'],
    upstream: [arrives('POST /v1/things', { lines: ['content-type: application/json'], body: '{"name":"a"}' })],
  },
  {
    name: 'an expectation without a body ends the connection, since the next bytes of its client are unknown',
    sent: get('/v1/things', 'Expect: 100-continue'),
    client: ['200', 'closed'],
    upstream: [arrives('GET /v1/things')],
  },
  {
    name: 'an upgrade to HTTP/2',
    sent: get(
      '/v1/things',
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
    ),
    ...passes(arrives('GET /v1/things')),
  },
  {
    name: 'an upgrade to HTTP/2 of a POST',
    sent: post('{"name":"a"}', 'Connection: Upgrade', 'Upgrade: h2c'),
    ...passes(arrives('POST /v1/things', { lines: ['content-type: application/json'], body: '{"name":"a"}' })),
  },
  {
    name: 'an upgrade to a WebSocket where there is none',
    sent: get(
      '/v1/things',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
    ),
    ...passes(arrives('GET /v1/things')),
  },
  {
    name: 'an upgrade that Connection does not name',
    sent: get('/v1/things', 'Upgrade: websocket'),
    ...passes(arrives('GET /v1/things')),
  },
];

const following: readonly AttackCase[] = [
  {
    name: 'a second request behind one that is broken',
    sent: get('/v1/things', 'X A: b') + get('/v1/things/second'),
    ...broken,
  },
  {
    name: 'a second request behind one with refused framing',
    sent: get('/v1/things', 'Transfer-Encoding: gzip') + get('/v1/things/second'),
    ...broken,
  },
  {
    name: 'a second request behind one that is refused and understood',
    sent: get('/v1/nothing') + get('/v1/things/second'),
    client: ['404 route_not_found', '200', 'open'],
    upstream: [arrives('GET /v1/things/second')],
  },
  {
    name: 'a second request behind one that ends the connection',
    sent: get('/v1/things', 'Connection: close') + get('/v1/things/second'),
    client: ['200', 'closed'],
    upstream: [arrives('GET /v1/things')],
  },
  {
    name: 'a broken request behind one that passes',
    sent: `${get('/v1/things')}how are you?\r\n\r\n`,
    client: ['200', 'closed'],
    upstream: [arrives('GET /v1/things')],
  },
  {
    name: 'five requests at once, each with its own answer',
    sent: [1, 2, 3, 4, 5].map((id) => get(`/v1/things/${id}`)).join(''),
    ...passes(...[1, 2, 3, 4, 5].map((id) => arrives(`GET /v1/things/${id}`))),
  },
  ...['POST', 'PUT', 'DELETE'].map((method) => ({
    name: `${method} with a body that breaks off where the gateway answers by itself`,
    sent: `${head(`${method} /.well-known/jwks.json`, 'Transfer-Encoding: chunked')}zz\r\n`,
    ...broken,
  })),
  { name: 'half a head, and no more', sent: 'GET /v1/things HTTP/1.1\r\nHost: a', ends: true, ...broken },
  { name: 'nothing at all', sent: '', ends: true, client: ['closed'] },
];

export const headCases: readonly AttackCase[] = [
  ...lines,
  ...versions,
  ...methods,
  ...hosts,
  ...expectations,
  ...following,
];
