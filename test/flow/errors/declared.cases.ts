// Refusals that follow from declarations: rules for the answers of an upstream, its credential, the host names of the gateway.

import assert from 'node:assert/strict';
import type { Answer } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { GatewayOptions } from '../../support/gateway.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { thingsContract } from '../../support/things.ts';
import type { World } from '../../support/world.ts';

type Case = RefusalCase<World>;

const served = { Host: 'localhost' };
const answered = { 200: { description: 'done', content: { 'application/json': { schema: { type: 'object' } } } } };
const vault = {
  '/v1/vault': {
    get: { operationId: 'readVault', security: [{ apiKey: ['vault:read'] }, { basic: [] }], responses: answered },
  },
};

// biome-ignore lint/suspicious/noThenProperty: this is the word of the configuration.
const rule = (when: object, outcome: object) => ({ when, then: outcome });

/** A gateway that serves one host name, before an upstream with a credential of its own and an odd way to fail. */
export function declaredOptions(url: string, password: string): GatewayOptions {
  const securitySchemes = { apiKey: { type: 'http', scheme: 'bearer' }, basic: { type: 'http', scheme: 'basic' } };
  const fails = (error: string) => ({ status: 200, body: { error } });
  return {
    gateway: { hosts: { mail: 'mail.test' } },
    contracts: { 'things.yaml': { ...thingsContract(vault), components: { securitySchemes } } },
    upstreams: {
      things: {
        contracts: ['things.yaml'],
        live: url,
        credential: { basic: { user: 'keeper', secret: 'vault_credentials' } },
        basicForClients: true,
        answers: [
          rule({ status: 403, body: { title: { contains: 'quota' } } }, { code: 'quota_exceeded' }),
          rule(fails('taken'), { code: 'already_exists', param: { member: 'field' } }),
          rule(fails('cannot'), { code: 'operation_unsupported' }),
          rule(fails('unknown'), { code: 'reference_missing', param: { submitted: 'item' } }),
        ],
      },
    },
    environment: { VAULT_CREDENTIALS: `keeper:${password}` },
  };
}

/** Asserts that both ways in are named, and leaves the one that other operations have as well. */
function withoutBasicChallenge(answer: Answer): Answer {
  const basic = 'Basic realm="localhost:8080", charset="UTF-8"';
  const challenges = answer.lines.filter(([name]) => name.toLowerCase() === 'www-authenticate');
  assert.deepEqual(
    challenges.map(([, value]) => value),
    ['Bearer realm="localhost:8080"', basic],
  );
  const lines = answer.lines.filter(([, value]) => value !== basic);
  return { ...answer, lines, headers: { ...answer.headers, 'www-authenticate': challenges[0]?.[1] } };
}

const withBasic = (name: string, credentials: string): Case => ({
  name,
  code: 'basic_credentials_invalid',
  async provoke({ call, upstream }) {
    const before = upstream.received.length;
    const answer = await call('GET /v1/vault', { ...served, Authorization: `Basic ${credentials}` });
    assert.equal(upstream.received.length, before, 'the upstream gets no request');
    return withoutBasicChallenge(answer);
  },
});

const base64 = (text: string) => Buffer.from(text).toString('base64');

const credentials: readonly Case[] = [
  withBasic('a wrong password', base64('keeper:wrong')),
  withBasic('a wrong user name', base64('somebody:wrong')),
  withBasic('a user name alone', base64('keeper')),
  withBasic('text that is not base64', '%%%'),
  withBasic('bytes that are not UTF-8', Buffer.from([0x6b, 0x3a, 0xff]).toString('base64')),
  {
    name: 'no credentials where Basic is one way in',
    code: 'api_key_missing',
    provoke: async ({ call }) =>
      withoutBasicChallenge(await call('GET /v1/vault', { ...served, Authorization: undefined })),
  },
];

const hosts: readonly Case[] = ['elsewhere.test', '127.0.0.1', 'sub.localhost'].map((host) => ({
  name: `the host name ${host}`,
  code: 'misdirected_request',
  provoke: ({ call }) => call('GET /v1/things', { Host: host }),
  also: ({ error }) => assert.match(String(error.host), /^localhost/),
}));

const fails = (code: Case['code'], body: object, also: Case['also'] = () => {}, status = 200): Case => ({
  name: `an answer that a rule maps to ${code}`,
  code,
  provoke({ upstream, call }) {
    upstream.plays((socket) => socket.write(httpAnswer(status, JSON.stringify(body))));
    return call('POST /v1/things', { ...served, 'Content-Type': 'application/json' }, '{"name":"Anvil"}');
  },
  also,
});
const blames =
  (param: string): Case['also'] =>
  ({ error }) =>
    assert.equal(error.param, param);

export const declaredCases: readonly Case[] = [
  ...credentials,
  ...hosts,
  fails('already_exists', { error: 'taken', field: 'name', value: 'anvil' }, blames('name')),
  fails('operation_unsupported', { error: 'cannot', details: 'SECRET' }),
  fails('reference_missing', { error: 'unknown', item: 'anvil' }, blames('name')),
  fails('quota_exceeded', { title: 'Quota exceeded' }, undefined, 403),
];
