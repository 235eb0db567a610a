// Every refusal that is about the token of an application: one case for each sentence that its owner may read.

import assert from 'node:assert/strict';
import { REFUSALS } from '../../../gateway/catalogue/errors.ts';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { compact, makeSigningKey, signToken, type TestIssuer } from '../../support/issuer.ts';

/** A gateway that accepts the tokens of one issuer, and one that it cannot reach. */
export interface TokenWorld {
  readonly gateway: TestGateway;
  readonly issuer: TestIssuer;
  readonly unreachable: TestIssuer;
}

type Case = RefusalCase<TokenWorld>;

const present = ({ gateway }: TokenWorld, token: string) =>
  ask(gateway.port, requestOf('GET /v1/things', { Authorization: `Bearer ${token}` }));
const saysWhy = (hint: keyof typeof REFUSALS.token_invalid.hints) => (answer: Answer) =>
  assert.equal(answer.error.message, `${REFUSALS.token_invalid.message} ${REFUSALS.token_invalid.hints[hint]}`);
const second = () => Math.floor(Date.now() / 1000);

const invalid: readonly Case[] = [
  {
    name: 'a token of an issuer that is not accepted',
    code: 'token_invalid',
    provoke: (world) => present(world, world.issuer.sign({ iss: 'https://evil.test' })),
    also: saysWhy('issuer'),
  },
  {
    name: 'a token that was encrypted',
    code: 'token_invalid',
    provoke: (world) => present(world, `${world.issuer.sign()}.AAAA.AAAA`),
    also: saysWhy('form'),
  },
  {
    name: 'a token that is not signed',
    code: 'token_invalid',
    provoke: (world) =>
      present(
        world,
        compact({ alg: 'none' }, { iss: world.issuer.iss }, () => 'x'),
      ),
    also: saysWhy('algorithm'),
  },
  {
    name: 'a token of a key that its issuer does not have',
    code: 'token_invalid',
    provoke: (world) => present(world, signToken(makeSigningKey('EdDSA'), { iss: world.issuer.iss })),
    also: saysWhy('key'),
  },
  {
    name: 'a token whose claims were changed',
    code: 'token_invalid',
    provoke(world) {
      const [header, , signature] = world.issuer.sign().split('.');
      const [, claims] = world.issuer.sign({ sub: 'somebody-else' }).split('.');
      return present(world, [header, claims, signature].join('.'));
    },
    also: saysWhy('signature'),
  },
  {
    name: 'a token without a subject',
    code: 'token_invalid',
    provoke: (world) => present(world, world.issuer.sign({ sub: undefined })),
    also: saysWhy('claims'),
  },
  {
    name: 'a token that is not valid yet',
    code: 'token_invalid',
    provoke: (world) => present(world, world.issuer.sign({ nbf: second() + 600 })),
    also: saysWhy('not_yet'),
  },
  {
    name: 'a token of an organization that does not exist',
    code: 'token_invalid',
    provoke: (world) => present(world, world.issuer.sign({ org: 'org_none' })),
    also: saysWhy('organization'),
  },
];

const others: readonly Case[] = [
  {
    name: 'a token that is over',
    code: 'token_expired',
    provoke: (world) => present(world, world.issuer.sign({ exp: second() - 60 })),
  },
  {
    name: 'a token for another service',
    code: 'token_audience',
    provoke: (world) => present(world, world.issuer.sign({ aud: 'https://other.test' })),
  },
  {
    name: 'a token of an issuer whose keys could never be read',
    code: 'auth_unavailable',
    provoke: (world) => present(world, world.unreachable.sign()),
  },
  {
    name: 'a token without the scope of the operation',
    code: 'insufficient_scope',
    provoke: (world) => present(world, world.issuer.sign({ scope: 'things:write' })),
  },
  {
    name: 'a token of a suspended organization',
    code: 'account_inactive',
    provoke: (world) => present(world, world.issuer.sign({ org: 'org_suspended' })),
  },
];

export const tokenCases: readonly Case[] = [...invalid, ...others];
