// Bodies that two parsers read differently, or that take more to read than to send.

import { type AttackCase, arrives, arrivesWith, ended, framed, head, passes, post, refused } from './case.ts';
import { LIMITS } from './limits.ts';

const { bodyBytesMax, jsonDepthMax, jsonMembersMax } = LIMITS;
const bytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
const invalid = refused('400 malformed_json');
const violated = refused('400 validation_failed');
const ofType = (type: string, body = '{"name":"a"}') =>
  head(
    'POST /v1/things',
    ...(type === '' ? [] : type.split('|').map((line) => `Content-Type: ${line}`)),
    `Content-Length: ${body.length}`,
  ) + body;

const texts: readonly AttackCase[] = [
  ...[
    ...[
      '{',
      '{"name":"a"',
      '{"name":"a"}}',
      '{"name":"a"}{"name":"b"}',
      '{"name":"a"} x',
      '{"name":"a"}\x00',
      '\x00{"name":"a"}',
    ],
    ...[
      '{"name":"a",}',
      "{'name':'a'}",
      '{name:"a"}',
      '{"name":"a"}//',
      '/**/{"name":"a"}',
      '{"name":NaN}',
      '{"name":Infinity}',
    ],
    ...[
      '{"name":-Infinity}',
      '{"name":undefined}',
      '{"name":01}',
      '{"name":+1}',
      '{"name":.5}',
      '{"name":1.}',
      '{"name":0x1}',
    ],
    ...[
      '{"name":"a\nb"}',
      '{"name":"a\x00b"}',
      '{"name":"\\x41"}',
      '{"name":"\\u12"}',
      '{"name":"\\"}',
      '{"name":\'a\'}',
      '[,]',
    ],
    ...[
      '{"name":"a" "b"}',
      '{"name" "a"}',
      '\x0b{"name":"a"}',
      '\xa0{"name":"a"}',
      'True',
      'nul',
      '"',
      '{"name":"\x1b"}',
    ],
    ...[
      '{"name":"\xff"}',
      '{"name":"\xc0\xae"}',
      '{"name":"\xed\xa0\x80"}',
      '{"name":"\xf4\x90\x80\x80"}',
      '{"name":"\xc3"}',
    ],
    ...['\xff\xfe{\x00}\x00', '\x00{\x00}', '\xfe\xff\x00{\x00}', `${bytes('\ufeff')}{"name":"a"}`],
  ].map((body) => ({ name: `the body ${JSON.stringify(body)}`, sent: post(body), ...invalid })),
  ...[
    ...['{"name":"a","name":"b"}', '{"name":"a","n\\u0061me":"b"}', '{"name":"a","\\u006e\\u0061\\u006d\\u0065":"b"}'],
    ...[
      '{"name":"a","more":{"x":1,"x":1}}',
      '{"name":"a","tags":[{"x":1,"x":2}]}',
      '{"name":"a","more":{"__proto__":1,"__proto__":2}}',
    ],
    ...['{"name":"a","more":{"":1,"":2}}', '{"name":"a","more":{"1":1,"1":2}}', '{"name" : "a", "name"\t:\n"b"}'],
  ].map((body) => ({
    name: `a member that is there twice: ${JSON.stringify(body)}`,
    sent: post(body),
    ...refused('400 duplicate_json_member'),
  })),
  ...[
    ...[
      '{"name":"a","admin":true}',
      '{"name":"a","__proto__":{"admin":true}}',
      '{"name":"a","constructor":{"prototype":{}}}',
    ],
    ...[
      '{"name":"a","Name":"b"}',
      '{"name":"a","name ":"b"}',
      '{"name":"a","name\\u0000":"b"}',
      '{"name":"a","n\\u0430me":"b"}',
    ],
    ...[
      '{"name":["a"]}',
      '{"name":{"$ne":null}}',
      '{"name":null}',
      '{"name":1e400}',
      '{"name":"a","more":{"n":1e400}}',
      '{"name":"a","tags":[[-1e400]]}',
      '{"name":"a","more":{"\\u006e":1e400}}',
      `{"name":"a","more":{"n":1${'0'.repeat(400)}}}`,
      '{"name":"a","more":{"n":1e-400}}',
      '{"name":"a","more":{"n":[1.00000000000000000001]}}',
      '1e400',
      '{}',
      '[]',
      '"a"',
      'null',
      '1',
      '[{"name":"a"}]',
    ],
  ].map((body) => ({ name: `the body ${body} is against the contract`, sent: post(body), ...violated })),
  ...[
    ...[
      '{"name":"a","more":{"__proto__":{"admin":true}}}',
      '{"name":"a","more":{"n":1e308,"m":-0,"o":1E+2,"p":1e-300}}',
      '{"name":"\\ud800"}',
    ],
    ...[
      '{"name":"\\u0000"}',
      '{"name":"a","more":{"n":123456789012345678901234567890}}',
      '{"name":"a","more":{"n":0.1000000000000000000001}}',
    ],
    ...[
      ' \t\r\n{ "name" : "a" } \n',
      bytes('{"name":"\ufeff\u202e\u2028"}'),
      '{"name":"</script>\\r\\nX-A: b"}',
      '{"name":"\\/"}',
    ],
  ].map((body) => ({
    name: `the body ${JSON.stringify(body)} arrives as it is`,
    sent: post(body),
    ...passes(arrivesWith(body)),
  })),
];

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const deep = (levels: number) => `{"name":"a","more":{"x":${nested(levels - 2)}}}`;
const wide = (members: number) => `{"name":"a","tags":[${Array(members - 2).fill('{}')}]}`;
const exactly = (length: number) => `{"name":"${'x'.repeat(length - 11)}"}`;

const borders: readonly AttackCase[] = [
  { name: 'as deep as allowed', sent: post(deep(jsonDepthMax)), ...passes(arrivesWith(deep(jsonDepthMax))) },
  { name: 'a level deeper', sent: post(deep(jsonDepthMax + 1)), ...refused('400 json_too_complex') },
  { name: 'very deep', sent: post(nested(900)), ...refused('400 json_too_complex') },
  { name: 'very deep below an escaped name', sent: post(`{"\\n":${nested(900)}}`), ...refused('400 json_too_complex') },
  {
    name: 'as many members as allowed',
    sent: post(wide(jsonMembersMax)),
    ...passes(arrivesWith(wide(jsonMembersMax))),
  },
  { name: 'a member more', sent: post(wide(jsonMembersMax + 1)), ...refused('400 json_too_complex') },
  {
    name: 'a member more in an object',
    sent: post(`{"name":"a","more":{${Array.from({ length: jsonMembersMax - 1 }, (_, at) => `"${at}":1`)}}}`),
    ...refused('400 json_too_complex'),
  },
  {
    name: 'as long as allowed',
    sent: post(exactly(bodyBytesMax)),
    ...passes(arrivesWith(exactly(bodyBytesMax))),
  },
  { name: 'a byte longer', sent: post(exactly(bodyBytesMax + 1)), ...ended('413 body_too_large') },
  {
    name: 'as long as allowed, in chunks',
    sent: framed(
      ['Transfer-Encoding: chunked'],
      `${bodyBytesMax.toString(16)}\r\n${exactly(bodyBytesMax)}\r\n0\r\n\r\n`,
    ),
    ...passes(arrivesWith(exactly(bodyBytesMax))),
  },
  {
    name: 'a byte longer, in chunks',
    sent: framed(
      ['Transfer-Encoding: chunked'],
      `${(bodyBytesMax + 1).toString(16)}\r\n${exactly(bodyBytesMax + 1)}\r\n0\r\n\r\n`,
    ),
    ...ended('413 body_too_large'),
  },
  {
    name: 'a byte too many in a last chunk',
    sent: framed(
      ['Transfer-Encoding: chunked'],
      `${bodyBytesMax.toString(16)}\r\n${exactly(bodyBytesMax)}\r\n1\r\n \r\n0\r\n\r\n`,
    ),
    ...ended('413 body_too_large'),
  },
];

const types: readonly AttackCase[] = [
  ...[
    ...[
      '',
      'text/plain',
      'application/xml',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=a',
      'text/json',
    ],
    ...[
      'application/json-patch+json',
      'application/vnd.api+json',
      'application/jsonp',
      'application/json, text/plain',
      '*/*',
      'json',
    ],
    ...[
      'text/plain; x=application/json',
      'application/ json',
      'application/json/x',
      '/json',
      'application/',
      '"application/json"',
    ],
  ].map((type) => ({
    name: `a body of the type ${JSON.stringify(type)}`,
    sent: ofType(type),
    ...refused('415 unsupported_media_type'),
  })),
  ...[
    'utf-16',
    'utf-7',
    'iso-8859-1',
    '"utf-16"',
    'UTF-8; charset=utf-16',
    'us-ascii',
    'utf-8x',
    'utf-16; charset=utf-8',
    'utf-8; x="; charset=utf-7"',
    '',
  ].map((charset) => ({
    name: `a body in the charset ${JSON.stringify(charset)}`,
    sent: ofType(`application/json; charset=${charset}`),
    ...refused('415 unsupported_charset'),
  })),
  ...[
    'Application/JSON',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json ; x=y',
  ].map((type) => ({
    name: `a body of the type ${type}`,
    sent: ofType(type),
    ...passes(arrives('POST /v1/things', { lines: [`content-type: ${type}`], body: '{"name":"a"}' })),
  })),
  {
    name: 'two types of one body',
    sent: ofType('application/json|text/plain'),
    client: ['400 malformed_http', 'closed'],
  },
  ...[
    'gzip',
    'deflate',
    'br',
    'zstd',
    'GZIP',
    'x-gzip',
    'identity, gzip',
    'gzip, identity',
    'identity,identity',
    'aes128gcm',
    '',
  ].map((coding) => ({
    name: `a body in the coding ${JSON.stringify(coding)}`,
    sent: post('{"name":"a"}', `Content-Encoding: ${coding}`),
    ...refused('415 unsupported_content_encoding'),
  })),
  {
    name: 'a bomb: much of the same in little',
    sent: post('\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xed\xc1\x01', 'Content-Encoding: gzip'),
    ...refused('415 unsupported_content_encoding'),
  },
  {
    name: 'a body in the coding identity is as it is',
    sent: post('{"name":"a"}', 'Content-Encoding: identity'),
    ...passes(arrivesWith('{"name":"a"}')),
  },
  {
    name: 'a body in several parts where JSON is expected',
    sent: ofType(
      'multipart/form-data; boundary=a',
      '--a\r\nContent-Disposition: form-data; name="name"\r\n\r\na\r\n--a--\r\n',
    ),
    ...refused('415 unsupported_media_type'),
  },
];

export const bodyCases: readonly AttackCase[] = [...texts, ...borders, ...types];
