// Every answer of the gateway has the constant headers, each on one line: whether an upstream, a stage, the portal or the parser made it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { securityHeadersFor } from '../../../gateway/edge/security-headers.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';

const ORIGIN = 'https://app.example.com';

const start = closesAfterAll();
const upstream = await start(
  startUpstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'Referrer-Policy': 'theirs' }).end('{}');
  }),
);
const gateway = await start(
  startGateway({
    ...thingsAt(upstream.url),
    gateway: { cors: { '*': { origins: [ORIGIN] } } },
  }),
);
const { authorization: Authorization } = await gateway.authorize();

const preflight = { Origin: ORIGIN, 'Access-Control-Request-Method': 'GET' };
const answers: readonly (readonly [name: string, status: number, bytes: () => string | Buffer])[] = [
  ['an answer of the upstream', 200, () => requestOf('GET /v1/things', { Authorization })],
  ['a refusal', 401, () => requestOf('GET /v1/things')],
  ['OPTIONS', 204, () => requestOf('OPTIONS /v1/things')],
  ['a preflight', 204, () => requestOf('OPTIONS /v1/things', preflight)],
  ['published keys', 200, () => requestOf('GET /.well-known/jwks.json')],
  ['a page that does not exist', 404, () => requestOf('GET /docs/nothing')],
  ['bytes that are no HTTP', 400, () => 'no HTTP\r\n\r\n'],
];

describe('each constant header is on one line of', () => {
  const names = securityHeadersFor('http:').filter((_, index) => index % 2 === 0);
  for (const [name, status, bytes] of answers) {
    it(name, async () => {
      const answer = await ask(gateway.port, bytes());
      assert.equal(answer.status, status);
      const lines = answer.lines.map(([field]) => field.toLowerCase());
      for (const constant of [...names, 'X-Request-Id'])
        assert.equal(lines.filter((line) => line === constant.toLowerCase()).length, 1, constant);
      assert.notEqual(answer.headers['referrer-policy'], 'theirs');
    });
  }
});
