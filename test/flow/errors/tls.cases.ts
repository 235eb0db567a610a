// Every refusal for missing TLS. The gateway they run on has it, and a listener without it beside.

import assert from 'node:assert/strict';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { SecureGateway } from '../tls/secure-gateway.ts';

type Case = RefusalCase<SecureGateway>;

const call = ({ gateway }: SecureGateway, line: string, headers: Record<string, string> = {}): Promise<Answer> =>
  ask(gateway.app.plainPort as number, requestOf(line, headers));

function alsoClosed({ headers }: Answer): void {
  assert.equal(headers.connection, 'close');
  assert.equal(headers['strict-transport-security'], undefined);
  assert.equal(headers.location, undefined);
}

const alsoReplaced = (answer: Answer) => {
  alsoClosed(answer);
  assert.match(String(answer.error.message), /Replace them/);
};

export const tlsCases: readonly Case[] = [
  {
    name: 'a write without TLS',
    code: 'tls_required',
    provoke: (secure) => call(secure, 'POST /v1/things'),
    also: alsoClosed,
  },
  {
    name: 'a key sent without TLS, which is not sent a second time',
    code: 'tls_required',
    provoke: (secure) => call(secure, 'GET /v1/things', { Authorization: secure.authorization }),
    also: alsoReplaced,
  },
  {
    name: 'a key in the URL sent without TLS',
    code: 'tls_required',
    provoke: (secure) => call(secure, `GET /v1/things?key=${secure.authorization.slice('Bearer '.length)}`),
    also: alsoReplaced,
  },
  {
    name: 'a cookie sent without TLS',
    code: 'tls_required',
    provoke: (secure) => call(secure, 'GET /v1/things', { Cookie: 'session=1' }),
    also: alsoReplaced,
  },
];
