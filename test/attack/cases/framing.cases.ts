// The end of a message: lengths, chunks, and both. Bytes that the gateway takes for a body and an upstream for a request would be an
// unauthenticated request.

import { type AttackCase, arrives, arrivesWith, broken, ended, framed, get, head, passes, post } from './case.ts';

const smuggled = 'GET /v1/things/smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const body = '{"name":"a"}';
const chunked = `c\r\n${body}\r\n0\r\n\r\n`;

/** A POST with these lines of framing, a body in one of two forms, and a request behind it. */
const ambiguous = (name: string, lines: readonly string[], content = chunked): AttackCase => ({
  name,
  sent: framed(lines, content + smuggled),
  ...broken,
});

const both: readonly AttackCase[] = [
  ambiguous('a length, then chunks (CL.TE)', ['Content-Length: 50', 'Transfer-Encoding: chunked']),
  ambiguous('chunks, then a length (TE.CL)', ['Transfer-Encoding: chunked', 'Content-Length: 4']),
  ambiguous('chunks and a length of 0', ['Transfer-Encoding: chunked', 'Content-Length: 0']),
  ambiguous('chunks and a length that is empty', ['Transfer-Encoding: chunked', 'Content-Length:']),
  ambiguous('chunks and a length that Connection names', [
    'Connection: content-length',
    'Content-Length: 4',
    'Transfer-Encoding: chunked',
  ]),
  ambiguous('a length and chunks that Connection names', [
    'Connection: transfer-encoding',
    'Transfer-Encoding: chunked',
    'Content-Length: 12',
  ]),
];

/** TE.TE: a coding that one side does not recognise as chunked. */
const codings: readonly AttackCase[] = [
  ...[
    ...['xchunked', 'chunked, chunked', 'chunked, identity', 'identity, chunked', 'gzip, chunked', 'chunked, gzip'],
    ...[
      'gzip',
      'identity',
      'chunked;q=1',
      'chunked;',
      ';chunked',
      '"chunked"',
      "'chunked'",
      'chunke',
      'chunkedchunked',
    ],
    ...[
      'chunked,',
      ',chunked',
      'cow',
      'x, chunked',
      'chunked x',
      'ch\xfcnked',
      '\x0bchunked',
      '\x0cchunked',
      'chunked\x0b',
    ],
    ...['chunked\x00', '\x00chunked', '\x7fchunked', '\xa0chunked', 'chunked\xa0', ''],
  ].map((value) => ambiguous(`a coding of ${JSON.stringify(value)}`, [`Transfer-Encoding: ${value}`])),
  ambiguous('chunked on two lines', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']),
  ambiguous('chunked, and another coding on a second line', ['Transfer-Encoding: chunked', 'Transfer-Encoding: cow']),
  ambiguous('another coding, and chunked on a second line', ['Transfer-Encoding: cow', 'Transfer-Encoding: chunked']),
  ambiguous('chunked, and an empty second line', ['Transfer-Encoding: chunked', 'Transfer-Encoding:']),
  ambiguous('the second line in other letters', ['Transfer-Encoding: chunked', 'transfer-encoding: identity']),
  ambiguous('a coding before a space and a colon', ['Transfer-Encoding : chunked', 'Content-Length: 4']),
  ambiguous('a coding before a tab and a colon', ['Transfer-Encoding\t: chunked', 'Content-Length: 4']),
  ambiguous('a coding behind a space', [' Transfer-Encoding: chunked', 'Content-Length: 4']),
  ambiguous('a coding on a folded line', ['Transfer-Encoding:', ' chunked', 'Content-Length: 4']),
  ambiguous('a coding on a line folded by a tab', ['Transfer-Encoding:', '\tchunked', 'Content-Length: 4']),
  ambiguous('a folded second coding', ['Transfer-Encoding: chunked', ' , identity']),
  ambiguous('a coding after a bare LF', ['X-A: b\nTransfer-Encoding: chunked', 'Content-Length: 4']),
  ambiguous('a coding after a bare CR', ['X-A: b\rTransfer-Encoding: chunked', 'Content-Length: 4']),
  ambiguous('a coding that a bare CR cuts', ['Transfer-\rEncoding: chunked', 'Content-Length: 4']),
  ambiguous('a coding that NUL cuts', ['Transfer-Encoding\x00: chunked', 'Content-Length: 4']),
  ambiguous('a coding behind CR CR LF', ['X-A: b\r', 'Transfer-Encoding: chunked']),
  ambiguous('a coding with a colon for each reader', ['Transfer-Encoding:: chunked']),
  {
    name: 'chunks over HTTP/1.0',
    sent: framed(['Transfer-Encoding: chunked'], chunked + smuggled).replace('HTTP/1.1', 'HTTP/1.0'),
    ...broken,
  },
];

const lengths: readonly AttackCase[] = [
  ...[
    ...[
      '+12',
      '-12',
      '-0',
      '12, 12',
      '12,',
      ',12',
      '12 12',
      '1 2',
      '0x0c',
      '0xc',
      'c',
      '12.0',
      '12e0',
      '1_2',
      '12;',
      '"12"',
    ],
    ...["'12'", '\xd9\xa3', '\x0b12', '12\x00', '\x0012', '12\x0b', '\xb2', 'NaN', 'Infinity'],
    ...['18446744073709551628', '4294967308.', '99999999999999999999999999', ''],
  ].map((value) => ambiguous(`a length of ${JSON.stringify(value)}`, [`Content-Length: ${value}`], body)),
  ambiguous('two different lengths', ['Content-Length: 12', 'Content-Length: 0'], body),
  ambiguous('one length twice', ['Content-Length: 12', 'Content-Length: 12'], body),
  ambiguous('one length twice, in other letters', ['Content-Length: 12', 'CONTENT-LENGTH: 12'], body),
  ambiguous('a length before a space and a colon', ['Content-Length : 12'], body),
  ambiguous('a length on a folded line', ['Content-Length: 1', ' 2'], body),
  ambiguous('a length that NUL cuts off', ['Content-\x00Length: 12'], body),
  {
    name: 'a length with leading zeros is that number, and is counted anew',
    sent: framed(['Content-Length: 000000000000000000000012'], body),
    ...passes(arrivesWith(body)),
  },
  ...['0012', '012', '000000000000000000000012'].map((length) => ({
    name: `a streamed body's length of ${length} is that number, and is written anew`,
    sent: head('POST /v1/files', 'Content-Type: application/octet-stream', `Content-Length: ${length}`) + body,
    ...passes(arrives('POST /v1/files', { lines: ['content-type: application/octet-stream'], body })),
  })),
  {
    name: 'a streamed body with a length of zeros is an empty file, and its length is written anew',
    sent: head('POST /v1/files', 'Content-Type: application/octet-stream', 'Content-Length: 000'),
    ...passes(arrives('POST /v1/files', { lines: ['content-type: application/octet-stream'], body: '' })),
  },
  {
    name: 'a GET with a length of zeros has no body',
    sent: get('/v1/things', 'Content-Length: 00'),
    ...passes(arrives('GET /v1/things')),
  },
  {
    name: 'a length with spaces around it is that number',
    sent: framed(['Content-Length: \t 12 \t '], body),
    ...passes(arrivesWith(body)),
  },
  {
    name: 'names that only look like framing are none, and stay here',
    sent: framed(
      ['Content-Length: 12', 'Content_Length: 4', 'Transfer_Encoding: chunked', 'X-Content-Length: 0'],
      body,
    ),
    ...passes(arrivesWith(body)),
  },
  {
    name: 'the bytes behind the length are the next request',
    sent: post(body) + get('/v1/things/next'),
    client: ['200', '200', 'open'],
    upstream: [arrivesWith(body), arrives('GET /v1/things/next')],
  },
];

/** Bodies in chunks that not every reader reads in the same way. */
const chunks: readonly AttackCase[] = [
  ...[
    ['a size with 0x', `0xc\r\n${body}\r\n0\r\n\r\n`],
    ['a size with a plus', `+c\r\n${body}\r\n0\r\n\r\n`],
    ['a size with a minus', `-c\r\n${body}\r\n0\r\n\r\n`],
    ['a size behind a space', ` c\r\n${body}\r\n0\r\n\r\n`],
    ['a size before a space', `c \r\n${body}\r\n0\r\n\r\n`],
    ['a size before a tab', `c\t\r\n${body}\r\n0\r\n\r\n`],
    ['no size', `\r\n${body}\r\n0\r\n\r\n`],
    ['a size of no digits', `zz\r\n${body}\r\n0\r\n\r\n`],
    ['a size with an underscore', `1_2\r\n${body}\r\n0\r\n\r\n`],
    ['a size that overflows 64 bits', `1000000000000000c\r\n${body}\r\n0\r\n\r\n`],
    ['a size line that ends in a bare LF', `c\n${body}\r\n0\r\n\r\n`],
    ['a size line that ends in a bare CR', `c\r${body}\r\n0\r\n\r\n`],
    ['a size line that ends in CR CR LF', `c\r\r\n${body}\r\n0\r\n\r\n`],
    ['a bare LF in an extension', `c;a\nb\r\n${body}\r\n0\r\n\r\n`],
    ['a bare CR in an extension', `c;a\rb\r\n${body}\r\n0\r\n\r\n`],
    ['a NUL in an extension', `c;a\x00b\r\n${body}\r\n0\r\n\r\n`],
    ['a chunk that ends in a bare LF', `c\r\n${body}\n0\r\n\r\n`],
    ['a chunk without its end', `c\r\n${body}0\r\n\r\n`],
    ['a chunk that is longer than its size', `b\r\n${body}\r\n0\r\n\r\n`],
    ['a chunk with other bytes for its end', `c\r\n${body}XX0\r\n\r\n`],
    ['a last chunk that ends in a bare LF', `c\r\n${body}\r\n0\n\n`],
    ['a trailer without a colon', `c\r\n${body}\r\n0\r\nGET / HTTP/1.1\r\n\r\n`],
    ['a length as a trailer', `c\r\n${body}\r\n0\r\nContent-Length: 4\r\n\r\n`],
    ['a coding as a trailer', `c\r\n${body}\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['a trailer before a space and a colon', `c\r\n${body}\r\n0\r\nX-A : b\r\n\r\n`],
  ].map(([what = '', content]) => ambiguous(`chunks: ${what}`, ['Transfer-Encoding: chunked'], content)),
  ...[
    ['in one', chunked],
    ['in several, sizes in capitals and with zeros', `0005\r\n{"nam\r\n00007\r\ne":"a"}\r\n0000\r\n\r\n`],
    ['with extensions', `c;a=b;c="d\\"e"\r\n${body}\r\n0;x\r\n\r\n`],
    ['with trailers that name the caller', `c\r\n${body}\r\n0\r\nX-Organization-Id: org_other\r\n\r\n`],
    ['with an authorization as trailer', `c\r\n${body}\r\n0\r\nAuthorization: Bearer other\r\nHost: b\r\n\r\n`],
  ].map(([what, content = '']) => ({
    name: `chunks become a length: ${what}`,
    sent: framed(['Transfer-Encoding: chunked', 'Trailer: X-Organization-Id'], content),
    ...passes(arrivesWith(body)),
  })),
  {
    name: 'chunks in other letters become a length',
    sent: framed(['tRANSFER-eNCODING: CHUNKed'], chunked),
    ...passes(arrivesWith(body)),
  },
  {
    name: 'no chunk but the last is no body',
    sent: framed(['Transfer-Encoding: chunked'], '0\r\n\r\n'),
    client: ['400 body_missing', 'open'],
  },
  {
    name: 'endless extensions',
    sent: framed(['Transfer-Encoding: chunked'], `c;${'x'.repeat(20_000)}\r\n${body}\r\n0\r\n\r\n`),
    ...ended('413 body_too_large'),
  },
];

/** A body where none is expected, and none where one is. */
const misplaced: readonly AttackCase[] = [
  ...['GET', 'HEAD'].map((method) => ({
    name: `a request as the body of ${method} is not a request`,
    sent: head(`${method} /v1/things`, `Content-Length: ${smuggled.length}`) + smuggled,
    client: ['400 validation_failed', 'open'],
  })),
  {
    name: 'a request as the body of OPTIONS is not a request',
    sent: head('OPTIONS /v1/things', `Content-Length: ${smuggled.length}`) + smuggled,
    client: ['204', 'open'],
  },
  {
    name: 'a request as the body of a method that is not served is not a request',
    sent: head('DELETE /v1/things', `Content-Length: ${smuggled.length}`) + smuggled,
    client: ['405 method_not_allowed', 'open'],
  },
  {
    name: 'a body of GET in chunks',
    sent: head('GET /v1/things', 'Transfer-Encoding: chunked') + chunked,
    ...ended('400 validation_failed'),
  },
  {
    name: 'a GET with a length of 0 has no body',
    sent: get('/v1/things', 'Content-Length: 0'),
    ...passes(arrives('GET /v1/things')),
  },
  { name: 'a POST without any framing', sent: framed([], ''), client: ['400 body_missing', 'open'] },
  {
    name: 'a POST without any framing, and its body is the next request',
    sent: framed([], `${body}\r\n\r\n`),
    ...ended('400 body_missing'),
  },
  { name: 'a length that is not kept', sent: framed(['Content-Length: 12'], '{"na'), ends: true, ...broken },
  {
    name: 'chunks without an end',
    sent: framed(['Transfer-Encoding: chunked'], `c\r\n${body}\r\n`),
    ends: true,
    ...broken,
  },
  {
    name: 'a request behind a body that was too long to be read is none',
    sent: framed(['Content-Length: 70000'], 'x'.repeat(70_000) + get('/v1/things/smuggled')),
    ...ended('413 body_too_large'),
  },
  {
    name: 'a request in the place of a body that was refused before 100 Continue is none',
    sent: framed(['Content-Length: 70000', 'Expect: 100-continue'], get('/v1/things/smuggled')),
    ...ended('413 body_too_large'),
  },
];

export const framingCases: readonly AttackCase[] = [...both, ...codings, ...lengths, ...chunks, ...misplaced];
