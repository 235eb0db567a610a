// Answers of an upstream, or of an attacker who controls part of it: header lines that would split an answer, speak in the name of the
// gateway, or name machines inside; framing that could be read in two ways.

export interface HostileAnswer {
  readonly name: string;
  /** Every byte of it, as latin1. */
  readonly answered: string;
  /** Status, with the code where the gateway refuses it. */
  readonly client: string;
  /** Header lines beyond those that every answer has; none by default. */
  readonly lines?: readonly string[];
  readonly body?: string;
}

const json = 'Content-Type: application/json';
const answer = (body: string, ...lines: readonly string[]) =>
  ['HTTP/1.1 200 OK', json, `Content-Length: ${body.length}`, ...lines, '', body].join('\r\n');
const framed = (rest: string, ...lines: readonly string[]) =>
  ['HTTP/1.1 200 OK', json, ...lines, '', rest].join('\r\n');

const dropped = (line: string): HostileAnswer => ({
  name: `the line ${JSON.stringify(line)} stays here`,
  answered: answer('{}', line),
  client: '200',
});
const bad = (name: string, answered: string): HostileAnswer => ({
  name,
  answered,
  client: '502 upstream_bad_response',
});

const lines: readonly HostileAnswer[] = [
  ...[
    ...[
      'Set-Cookie: session=evil',
      'Server: secret/1.0',
      'X-Powered-By: secret',
      'X-Internal-Host: 10.0.0.1',
      'Via: 1.1 inner',
    ],
    ...[
      'WWW-Authenticate: Basic realm="evil"',
      'Proxy-Authenticate: Basic',
      'Authentication-Info: a',
      'X-Request-Id: req_other',
    ],
    ...[
      'X-Error-Code: api_key_revoked',
      'RateLimit: "organization";r=0',
      'RateLimit-Policy: "x";q=1',
      'X-RateLimit-Remaining: 0',
    ],
    ...[
      'Access-Control-Allow-Origin: *',
      'Access-Control-Allow-Credentials: true',
      'X-Gateway-Assertion: a',
      'Allow: DELETE',
    ],
    ...[
      'X-Client-Request-Id: a',
      'Original-Request-Id: a',
      'Content-Security-Policy: default-src *',
      'Referrer-Policy: unsafe-url',
    ],
    ...[
      'X-Content-Type-Options: none',
      'Strict-Transport-Security: max-age=0',
      'Alt-Svc: h2="evil.test:443"',
      'Refresh: 0;url=//evil.test',
    ],
    ...[
      'Clear-Site-Data: "*"',
      'Trailer: X-A',
      'Keep-Alive: timeout=9999',
      'Upgrade: h2c',
      'X-Accel-Redirect: /etc/passwd',
      'X-Sendfile: /etc/passwd',
    ],
    ...[
      'Location: http://10.0.0.1/a',
      'Location: //evil.test/a',
      'Location: /\\evil.test',
      'Location: javascript:alert(1)',
      'Location: \\\\evil.test',
    ],
    ...[
      'Location: https:evil.test',
      'Location:  http://a',
      'Public-Key-Pins: a',
      'Content-Location: http://10.0.0.1/',
      '__proto__: a',
      'constructor: a',
    ],
  ].map(dropped),
  {
    name: 'a Location with encoded line ends is one line',
    answered: answer('{}', 'Location: /a%0d%0aX-Injected:%20yes'),
    client: '200',
    lines: ['Location: /a%0d%0aX-Injected:%20yes'],
  },
  {
    name: 'an allowed header is in the answer, under our spelling',
    answered: answer('{}', 'eTAG: "a"', 'lINK: </b>; rel=next', 'link: </c>; rel=prev'),
    client: '200',
    lines: ['ETag: "a"', 'Link: </b>; rel=next', 'Link: </c>; rel=prev'],
  },
  {
    name: 'a header that Connection names is removed',
    answered: answer('{}', 'Connection: etag, close', 'ETag: "a"'),
    client: '200',
  },
  {
    name: 'shared caches are kept out of answers to a caller',
    answered: answer('{}', 'Cache-Control: public, s-maxage=600, max-age=60'),
    client: '200',
    lines: ['Cache-Control: private, max-age=60'],
  },
  ...[
    ['a bare LF in a value', 'ETag: "a"\nX-Injected: yes'],
    ['a bare CR in a value', 'ETag: "a"\rX-Injected: yes'],
    ['CR CR LF in a value', 'ETag: "a"\r\r\nX-Injected: yes'],
    ['NUL in a value', 'ETag: "a\x00"'],
    ['a folded line', 'ETag: "a"\r\n X-Injected: yes'],
    ['a space before the colon', 'ETag : "a"'],
    ['no colon', 'X-Injected'],
  ].map(([name = '', line = '']) => bad(name, answer('{}', line))),
];

const framings: readonly HostileAnswer[] = [
  bad('a length and chunks', framed('2\r\n{}\r\n0\r\n\r\n', 'Content-Length: 2', 'Transfer-Encoding: chunked')),
  bad('two lengths', framed('{}', 'Content-Length: 2', 'Content-Length: 3')),
  bad('a list of lengths', framed('{}', 'Content-Length: 2, 3')),
  bad('a length with a sign', framed('{}', 'Content-Length: +2')),
  bad('a negative length', framed('{}', 'Content-Length: -2')),
  bad('a length in hexadecimal', framed('{}', 'Content-Length: 0x2')),
  bad('a length that overflows', framed('{}', 'Content-Length: 18446744073709551618')),
  bad('a chunk size that is none', framed('zz\r\n{}\r\n0\r\n\r\n', 'Transfer-Encoding: chunked')),
  bad('a chunk size with a sign', framed('+2\r\n{}\r\n0\r\n\r\n', 'Transfer-Encoding: chunked')),
  bad('a chunk size that ends in a bare LF', framed('2\n{}\r\n0\r\n\r\n', 'Transfer-Encoding: chunked')),
  bad('a status of letters', answer('{}').replace('200', 'abc')),
  bad('a status of two digits', answer('{}').replace('200', '20')),
  bad('a status below all', answer('{}').replace('200', '000')),
  bad('a status above all', answer('{}').replace('200', '999')),
  bad('another protocol', answer('{}').replace('HTTP/1.1', 'ICY')),
  bad('no head at all', '{}\r\n\r\n'),
  bad(
    'an unrequested switch of protocols',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
  ),
  bad('a head without end', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(100_000)}\r\n`),
  {
    name: 'interim answers are not passed on',
    answered: `HTTP/1.1 103 Early Hints\r\nLink: </evil.js>; rel=preload\r\n\r\n${answer('{}')}`,
    client: '200',
  },
  {
    name: 'trailers are not passed on, chunks are framed anew',
    answered: framed('2;x=y\r\n{}\r\n0\r\nSet-Cookie: a=b\r\n\r\n', 'Transfer-Encoding: chunked'),
    client: '200',
  },
];

export const answerCases: readonly HostileAnswer[] = [...lines, ...framings];
