import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  credentialFieldOf,
  isOwnedRequestHeader,
  isSpellingOf,
  mayCarryCredential,
} from '../../../gateway/shared/http/owned-headers.ts';
import { type ParsedCredential, parseCredential } from '../../../gateway/upstream/credentials/credential-kinds.ts';
import type { CredentialSettings } from '../../../gateway/upstream/settings.ts';

const basic = { kind: 'basic', user: 'gateway', secret: 'entry' } as const;
const apiKey = { kind: 'apiKey', header: 'x-api-key', secret: 'entry' } as const;
const bearer = { kind: 'bearer', secret: 'entry' } as const;

/** Settings, value of the secret, and the credential; undefined: the secret cannot be used. */
const credentials: readonly (readonly [CredentialSettings, string, ParsedCredential | undefined])[] = [
  [
    basic,
    'open sesame',
    {
      identity: `Basic ${btoa('gateway:open sesame')}`,
      header: { name: 'authorization', value: `Basic ${btoa('gateway:open sesame')}` },
      login: { user: 'gateway', password: 'open sesame' },
    },
  ],
  [
    basic,
    'root:a:b',
    {
      identity: `Basic ${btoa('root:a:b')}`,
      header: { name: 'authorization', value: `Basic ${btoa('root:a:b')}` },
      login: { user: 'root', password: 'a:b' },
    },
  ],
  [basic, 'root:', undefined],
  [apiKey, 'Token a=b', { identity: 'Token a=b', header: { name: 'x-api-key', value: 'Token a=b' } }],
  [apiKey, 'two\nlines', undefined],
  [apiKey, 'a key ', undefined],
  [apiKey, 'schlüssel', undefined],
  [apiKey, '', undefined],
  [
    bearer,
    'ab.C_d-9~+/==',
    { identity: 'Bearer ab.C_d-9~+/==', header: { name: 'authorization', value: 'Bearer ab.C_d-9~+/==' } },
  ],
  [bearer, 'Bearer ab', undefined],
  [bearer, 'ab\r\nX-More: 1', undefined],
];

for (const [settings, secret, credential] of credentials) {
  test(`a credential of the kind ${settings.kind} from the secret "${secret}"`, () => {
    assert.deepEqual(parseCredential(secret, settings), credential);
  });
}

test('a credential is in the header that its settings name, which clients cannot set', () => {
  for (const [settings, , credential] of credentials) {
    const field = credentialFieldOf(settings);
    if (credential !== undefined) assert.equal(credential.header.name, field);
    assert.ok(isOwnedRequestHeader(field) || isSpellingOf('x_api_key', field), field);
  }
});

test('no field with another meaning carries a credential', () => {
  const refused = [
    'host',
    'content-length',
    'content-type',
    'transfer-encoding',
    'connection',
    'te',
    'cookie',
    'accept',
  ];
  refused.push('x-organization-id', 'x_forwarded_for', 'proxy-authorization', 'range', 'if-match', 'idempotency-key');
  refused.push('x-gateway-assertion', 'sec-websocket-key', 'x-request-id', 'via', 'expect', 'user-agent', 'prefer');
  assert.deepEqual(refused.filter(mayCarryCredential), []);
  const usual = ['authorization', 'x-api-key', 'api-key', 'apikey', 'x-auth-token', 'ocp-apim-subscription-key'];
  assert.deepEqual(usual.filter(mayCarryCredential), usual);
});
