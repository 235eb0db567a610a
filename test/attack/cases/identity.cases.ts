// The identity in a request: names that only the gateway may write, in every spelling that some server would read as them.

import { type AttackCase, arrives, arrivesWith, broken, get, passes, post, refused } from './case.ts';

const seen = (...lines: readonly string[]) => passes(arrives('GET /v1/things', { lines }));

/** In letters, separators and repetitions that some server takes for the same name. */
const spellings = (name: string) => [
  name,
  name.toLowerCase(),
  name.toUpperCase(),
  name.replaceAll('-', '_'),
  name.replace('-', '_'),
  name.replaceAll('-', '.'),
];

const own = ['X-Organization-Id', 'X-Api-Key-Id', 'X-Gateway-Assertion', 'X-Gateway-Anything'];
const hops = [
  ...[
    'X-Forwarded-For',
    'X-Forwarded-Proto',
    'X-Forwarded-Host',
    'X-Forwarded-Port',
    'X-Forwarded-Prefix',
    'Forwarded',
  ],
  ...['X-Real-IP', 'True-Client-IP', 'CF-Connecting-IP', 'X-Client-IP', 'X-Cluster-Client-IP', 'Fastly-Client-IP'],
  ...['X-Original-URL', 'X-Rewrite-URL', 'X-Original-Host', 'X-Host', 'Via', 'Max-Forwards', 'X-Original-Method'],
];
const secrets = [
  'Cookie',
  'Proxy-Authorization',
  'X-Api-Key',
  'X-Auth-Token',
  'X-Internal-Secret',
  'Authentication-Info',
];
const tracing = ['Tracestate', 'Traceparent', 'B3', 'X-B3-TraceId', 'Baggage', 'X-Cloud-Trace-Context'];

const names: readonly AttackCase[] = [
  ...own.flatMap((name) =>
    spellings(name).map((spelling) => ({
      name: `the client's own ${spelling}`,
      sent: get('/v1/things', `${spelling}: org_other`),
      ...seen(),
    })),
  ),
  ...[...hops, ...secrets, ...tracing].map((name) => ({
    name: `the client's own ${name}`,
    sent: get('/v1/things', `${name}: 192.0.2.66`),
    ...seen(),
  })),
  {
    name: 'an identity that is there twice, also in other letters',
    sent: get('/v1/things', 'X-Organization-Id: org_a', 'x-organization-id: org_b', 'X_Organization_Id: org_c'),
    ...seen(),
  },
  {
    name: 'a request id of the client is echoed and stays here',
    sent: get('/v1/things', 'X-Request-Id: mine'),
    ...seen(),
  },
  ...['a"; b="c', 'a b', 'x'.repeat(129), '<a>', '\xff', "'; DROP TABLE", '{jndi:ldap://a}', '%0d%0aX-A: b'].map(
    (id) => ({
      name: `the request id ${JSON.stringify(id.slice(0, 20))} is not even echoed`,
      sent: get('/v1/things', `X-Request-Id: ${id}`),
      ...seen(),
    }),
  ),
  {
    name: 'declared parameters do not open a way for names of the gateway',
    sent: get(
      '/v1/colors',
      ...[
        'X-Color: red',
        'X_Request_Id: mine',
        'X-Organization-Id: org_other',
        'X-Gateway-Color: red',
        'X-Forwarded-Color: red',
      ],
    ),
    ...passes(arrives('GET /v1/colors', { lines: ['x-color: red'] })),
  },
  {
    name: 'a declared parameter in another spelling is another name',
    sent: get('/v1/colors', 'X_Color: red', 'X-Colors: red'),
    ...passes(arrives('GET /v1/colors')),
  },
];

/** RFC 9110 section 7.6.1: headers that Connection names are gone before anything reads them (decision 37). */
const connections: readonly AttackCase[] = [
  ...[
    'close, x-request-id',
    'X-Request-Id, X-Organization-Id, X-Gateway-Assertion',
    'x-forwarded-for, forwarded, via, traceparent',
    'content-length, transfer-encoding, connection',
    'keep-alive, te, upgrade, x-api-key-id',
    '__proto__, constructor',
    ', ,;, x y',
  ].map((value) => ({
    name: `Connection: ${value}, which the request does not have`,
    sent: get('/v1/things', `Connection: ${value}`),
    client: ['200', /close/.test(value) ? 'closed' : 'open'],
    upstream: [arrives('GET /v1/things')],
  })),
  {
    name: "Connection removes the client's own headers",
    sent: get('/v1/things', 'Connection: Accept, x-request-id', 'Accept: */*', 'X-Request-Id: mine', 'Prefer: x'),
    ...seen('prefer: x'),
  },
  {
    name: 'Connection on two lines counts as one',
    sent: get('/v1/things', 'Connection: accept', 'Accept: */*', 'Connection: prefer', 'Prefer: x'),
    ...seen(),
  },
  {
    name: 'Connection removes a declared header',
    sent: get('/v1/colors', 'Connection: X-COLOR', 'X-Color: red'),
    ...passes(arrives('GET /v1/colors')),
  },
  {
    name: 'Connection removes a required header before it is looked for',
    sent: get('/v1/shades', 'X-Tenant: a', 'Connection: x-tenant'),
    ...refused('400 validation_failed'),
  },
  {
    name: 'a required header that Connection does not name',
    sent: get('/v1/shades', 'X-Tenant: a', 'Connection: x-tenants'),
    ...passes(arrives('GET /v1/shades', { lines: ['x-tenant: a'] })),
  },
  ...[
    ...[
      'Authorization',
      'authorization , close',
      'keep-alive,AUTHORIZATION',
      'x, authorization\t',
      'Host',
      'close, host',
    ],
    ...['content-length', 'Content-Length, keep-alive', 'content-type', 'Idempotency-Key', 'close,idempotency-key'],
    ...['cookie', 'origin', 'if-match', 'If-None-Match', 'if-unmodified-since', 'content-encoding'],
    ...['forwarded', 'x-forwarded-for', 'X-Forwarded-Proto'],
  ].map((value) => ({
    name: `Connection: ${JSON.stringify(value)}, without which the request means something else`,
    sent: post(
      '{"name":"a"}',
      ...[`Connection: ${value}`, 'Idempotency-Key: k-1', 'Cookie: a=b', 'Origin: https://a.test', 'If-Match: "1"'],
      ...['If-None-Match: "2"', 'If-Unmodified-Since: Fri, 20 Nov 2026 16:00:00 GMT', 'Content-Encoding: identity'],
      ...['Forwarded: for=192.0.2.1', 'X-Forwarded-For: 192.0.2.1', 'X-Forwarded-Proto: https'],
    ),
    ...broken,
  })),
  {
    name: 'Connection on two lines, of which the second names the caller',
    sent: get('/v1/things', 'Connection: keep-alive', 'connection: authorization'),
    ...broken,
  },
  {
    name: 'Connection that names an expectation',
    sent: post('{"name":"a"}', 'Connection: expect', 'Expect: 100-continue'),
    ...broken,
  },
  {
    name: 'fields of the connection stay on it',
    sent: get('/v1/things', 'Keep-Alive: timeout=600', 'TE: trailers', 'Trailer: X-A', 'Proxy-Connection: keep-alive'),
    ...seen(),
  },
];

const credentials: readonly AttackCase[] = [
  {
    name: 'two Authorization lines',
    sent: get('/v1/things', 'Authorization: Bearer other'),
    ...refused('400 authorization_ambiguous'),
  },
  {
    name: 'one Authorization twice',
    sent: get('/v1/things', 'authorization: Bearer KEY'),
    ...refused('400 authorization_ambiguous'),
  },
  {
    name: 'a second, empty Authorization',
    sent: get('/v1/things', 'AUTHORIZATION:'),
    ...refused('400 authorization_ambiguous'),
  },
  ...(
    [
      ['Bearer KEY, Bearer KEY', '401 api_key_malformed'],
      ['Bearer KEY x', '401 api_key_malformed'],
      ['Bearer "KEY"', '401 api_key_malformed'],
      ['Bearer KEYx', '401 api_key_malformed'],
      ['Bearer xKEY', '401 api_key_malformed'],
      ['Bearer', '401 api_key_malformed'],
      ['Bearer\tKEY', '401 auth_scheme_unsupported'],
      ['BearerKEY', '401 auth_scheme_unsupported'],
      ['KEY', '401 auth_scheme_unsupported'],
      ['Token KEY', '401 auth_scheme_unsupported'],
      ['Basic KEY', '401 auth_scheme_unsupported'],
      ['Digest username="KEY"', '401 auth_scheme_unsupported'],
      ['Negotiate KEY', '401 auth_scheme_unsupported'],
      ['"Bearer KEY"', '401 auth_scheme_unsupported'],
      ['__proto__ KEY', '401 auth_scheme_unsupported'],
      ['', '401 api_key_missing'],
      ['Bearer \xffKEY', '401 api_key_malformed'],
    ] as const
  ).map(([value, outcome]) => ({
    name: `Authorization: ${JSON.stringify(value)}`,
    sent: get('/v1/things').replace('Bearer KEY', () => value),
    ...refused(outcome),
  })),
  ...['bearer KEY', 'BEARER KEY', 'Bearer    KEY', '  Bearer KEY  '].map((value) => ({
    name: `Authorization: ${JSON.stringify(value)} is the same`,
    sent: get('/v1/things').replace('Bearer KEY', () => value),
    ...seen(),
  })),
  {
    name: 'a key in the query',
    sent: get('/v1/things?q=KEY').replace('Authorization: Bearer KEY\r\n', ''),
    ...refused('401 api_key_misplaced'),
  },
  {
    name: 'a key in a cookie is none',
    sent: get('/v1/things').replace('Authorization: Bearer KEY', 'Cookie: Authorization=Bearer KEY; key=KEY'),
    ...refused('401 api_key_missing'),
  },
  {
    name: 'a key under names that other servers read is none',
    sent: get('/v1/things').replace(
      'Authorization: Bearer KEY',
      'X-Api-Key: KEY\r\nX-Authorization: Bearer KEY\r\nAuthorization_: Bearer KEY',
    ),
    ...refused('401 api_key_missing'),
  },
];

const keyed: readonly AttackCase[] = [
  ...['a\x01b', 'a b', '\xff', 'x'.repeat(256), '', '"', '"a', '"a"b', '"a\\x"', '"\xe4"'].map((key) => ({
    name: `Idempotency-Key: ${JSON.stringify(key.slice(0, 20))}`,
    sent: post('{"name":"a"}', `Idempotency-Key: ${key}`),
    ...(key.includes('\x01') ? { client: ['400 malformed_http', 'closed'] } : refused('400 idempotency_key_malformed')),
  })),
  {
    name: 'two Idempotency-Keys',
    sent: post('{"name":"a"}', 'Idempotency-Key: a', 'Idempotency-Key: b'),
    ...refused('400 idempotency_key_malformed'),
  },
  {
    name: 'an Idempotency-Key of odd but proper characters crosses as it is',
    sent: post('{"name":"a"}', "Idempotency-Key: ../../__proto__';--%0d%0a"),
    ...passes(arrivesWith('{"name":"a"}', "idempotency-key: ../../__proto__';--%0d%0a", 'accept-encoding: identity')),
  },
];

export const identityCases: readonly AttackCase[] = [...names, ...connections, ...credentials, ...keyed];
