// Requests that are nearly right: sound ones with a few of their parts changed as attackers change them.

import fc from 'fast-check';

/** A message in its parts, so that changes hit the parts that parsers read. */
interface Message {
  readonly line: string;
  readonly headers: readonly string[];
  readonly body: string;
}

type Change = (message: Message) => Message;

const json = '{"name":"a","tags":[{"b":1}],"more":{"c":[true,null,"\\u00e9"]}}';
const inChunks = `5\r\n${json.slice(0, 5)}\r\n${(json.length - 5).toString(16)};x=y\r\n${json.slice(5)}\r\n0\r\n\r\n`;
const own = ['Host: api.test', 'Authorization: Bearer KEY'];

const sound: readonly Message[] = [
  {
    line: 'GET /v1/things?q=a HTTP/1.1',
    headers: [...own, 'Accept: application/json', 'If-None-Match: "a"'],
    body: '',
  },
  { line: 'HEAD /v1/things/a%20b HTTP/1.1', headers: [...own, 'Connection: keep-alive', 'TE: trailers'], body: '' },
  { line: 'OPTIONS /v1/things HTTP/1.1', headers: [...own, 'Origin: https://app.test'], body: '' },
  {
    line: 'POST /v1/things HTTP/1.1',
    headers: [...own, 'Content-Type: application/json', `Content-Length: ${json.length}`],
    body: json,
  },
  {
    line: 'POST /v1/things HTTP/1.1',
    headers: [...own, 'Content-Type: application/json', 'Transfer-Encoding: chunked'],
    body: inChunks,
  },
  {
    line: 'POST /v1/files HTTP/1.1',
    headers: [...own, 'Content-Type: application/octet-stream', 'Transfer-Encoding: chunked', 'Expect: 100-continue'],
    body: inChunks,
  },
  {
    line: 'PUT /pipe/a HTTP/1.1',
    headers: [...own, 'Cookie: a=b', 'Content-Type: text/plain', 'Transfer-Encoding: chunked'],
    body: inChunks,
  },
  {
    line: 'GET /pipe/socket HTTP/1.1',
    headers: [...own, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: a'],
    body: '',
  },
  {
    line: 'PATCH /v1/things/a HTTP/1.0',
    headers: [...own, 'Content-Type: application/json; charset=utf-8', `Content-Length: ${json.length}`],
    body: json,
  },
];

/** Points of disagreement between parsers. */
const odd = fc.constantFrom(
  ...[
    '\r',
    '\n',
    '\r\n',
    '\0',
    ' ',
    '\t',
    '\v',
    ':',
    ',',
    ';',
    '"',
    '\\',
    '\x7f',
    '\x80',
    '\xff',
    '%',
    '%00',
    '%2f',
    '%0d%0a',
    '/',
  ],
  ...[
    '..',
    '//',
    '?',
    '#',
    '0',
    '-',
    '+',
    '0x',
    'chunked',
    'HTTP/1.1',
    '\r\n\r\n',
    '\r\n ',
    '{',
    '}',
    '[',
    '\\u0000',
    '__proto__',
  ],
);
const line = fc.constantFrom(
  ...[
    'Content-Length: 0',
    'Content-Length: 5',
    'Content-Length: 70',
    'content-length : 5',
    'Transfer-Encoding: chunked',
  ],
  ...[
    'Transfer-Encoding: gzip',
    'transfer-encoding:\tchunked',
    'Transfer-Encoding: chunked, identity',
    'Connection: close',
  ],
  ...[
    'Connection: upgrade, host, content-length',
    'Connection: authorization, content-type',
    'Connection: accept, prefer, keep-alive',
    'Upgrade: websocket',
    'Upgrade: h2c',
    'Expect: 100-continue',
    'Expect: x',
    'Idempotency-Key: k',
    'Content_Length: 3',
    'Origin: https://app.test',
    'Access-Control-Request-Method: GET',
  ],
  ...[
    'Host: b',
    'Authorization: Basic YTpi',
    'Content-Encoding: gzip',
    'Content-Type: text/plain',
    'X-Organization-Id: org_b',
  ],
  ...[
    'X_Organization_Id: org_b',
    'X-Forwarded-For: 192.0.2.1',
    'Forwarded: for=a',
    'Trailer: X-A',
    'Idempotency-Key: "',
    'Cookie: a',
  ],
  ...[
    'Accept: text/html',
    'Range: bytes=0-',
    'Prefer: \xff',
    'X-HTTP-Method-Override: DELETE',
    ' folded',
    'no colon',
    '',
  ],
);
const target = fc.constantFrom(
  ...[
    '*',
    '/',
    '//',
    '/v1/things/..',
    '/v1/things/%2e%2e/x',
    'http://evil.test/v1/things',
    '/v1/things;a',
    '/v1/things#',
    '/v1/orders',
  ],
  ...[
    '/.well-known/jwks.json',
    '/docs',
    '/docs/errors/%3Cscript%3E',
    '/openapi/v1.json',
    '/docs/../v1/things',
    '/pipe/a',
    '/pipe/../v1/things',
    '/pipe/%2e%2e/x',
    '/pipe//',
    '/v1/files',
    '/v1/strict',
    '/v1/things/%ff',
    'evil.test:80',
    '/v1/things?q=%',
    '/v1/things?__proto__=1',
  ],
);
const method = fc.constantFrom(
  'GET',
  'POST',
  'DELETE',
  'CONNECT',
  'TRACE',
  'PRI',
  'get',
  'PROPFIND',
  'OPTIONS',
  'HEAD',
  'PATCH',
);

const insert = (text: string, at: number, what: string) => {
  const place = at % (text.length + 1);
  return text.slice(0, place) + what + text.slice(place);
};
const cut = (text: string, at: number, length: number) => {
  const place = at % (text.length + 1);
  return text.slice(0, place) + text.slice(place + length);
};
/** The list with one of its members changed. */
const withOne = (list: readonly string[], at: number, change: (text: string) => readonly string[]) =>
  list.flatMap((text, index) => (index === at % list.length ? change(text) : [text]));

const change: fc.Arbitrary<Change> = fc
  .tuple(fc.nat(9), fc.nat(10_000), fc.nat(10_000), odd, line, target, method)
  .map(([kind, first, second, what, added, path, verb]): Change => {
    const kinds: readonly Change[] = [
      (message) => ({ ...message, line: insert(message.line, first, what) }),
      (message) => ({ ...message, headers: withOne(message.headers, first, (text) => [insert(text, second, what)]) }),
      (message) => ({ ...message, headers: withOne(message.headers, first, (text) => [text, added]) }),
      (message) => ({ ...message, headers: withOne(message.headers, first, (text) => [text, text.toUpperCase()]) }),
      (message) => ({ ...message, headers: withOne(message.headers, first, () => []) }),
      (message) => ({ ...message, body: insert(message.body, first, what) }),
      (message) => ({ ...message, body: cut(message.body, first, 1 + (second % 8)) }),
      (message) => ({ ...message, line: message.line.replace(/ \S* /, ` ${path} `) }),
      (message) => ({ ...message, line: message.line.replace(/^\S+/, verb) }),
      (message) => ({ ...message, headers: withOne(message.headers, first, (text) => [cut(text, second, 1)]) }),
    ];
    return kinds[kind] as Change;
  });

const bytesOf = ({ line, headers, body }: Message): string => `${[line, ...headers, '', ''].join('\r\n')}${body}`;

/** One or two messages on a connection, of which the first has been changed; as latin1, KEY for a key. */
export const mutated: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...sound),
    fc.array(change, { minLength: 1, maxLength: 4 }),
    fc.option(fc.constantFrom(...sound), { nil: undefined }),
  )
  .map(([message, changes, next]) => {
    const changed = changes.reduce((so, one) => one(so), message);
    return bytesOf(changed) + (next === undefined ? '' : bytesOf(next));
  });

/** Messages as they are before anything is changed; as latin1, KEY for a key. */
export const soundMessages: readonly string[] = sound.map(bytesOf);
