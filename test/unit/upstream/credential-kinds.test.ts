import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  credentialFieldsOf,
  isOwnedRequestHeader,
  isSpellingOf,
  mayCarryCredential,
} from '../../../gateway/shared/http/owned-headers.ts';
import {
  credentialProblem,
  type ParsedCredential,
  parseCredential,
} from '../../../gateway/upstream/credentials/credential-kinds.ts';
import type { CredentialSettings } from '../../../gateway/upstream/settings.ts';

const basic = { kind: 'basic', user: 'gateway', secret: 'entry' } as const;
const apiKey = { kind: 'apiKey', header: 'x-api-key', secret: 'entry' } as const;
const bearer = { kind: 'bearer', secret: 'entry' } as const;
const headers: CredentialSettings = { kind: 'headers', names: ['x-api-key', 'authorization'], secret: 'entry' };

/** Settings, value of the secret, and the credential; undefined: the secret cannot be used. */
const credentials: readonly (readonly [CredentialSettings, string, ParsedCredential | undefined])[] = [
  [
    basic,
    'open sesame',
    {
      identity: `Basic ${btoa('gateway:open sesame')}`,
      header: { fields: ['authorization', `Basic ${btoa('gateway:open sesame')}`] },
      login: { user: 'gateway', password: 'open sesame' },
    },
  ],
  [
    basic,
    'root:a:b',
    {
      identity: `Basic ${btoa('root:a:b')}`,
      header: { fields: ['authorization', `Basic ${btoa('root:a:b')}`] },
      login: { user: 'root', password: 'a:b' },
    },
  ],
  [basic, 'root:', undefined],
  [apiKey, 'Token a=b', { identity: 'Token a=b', header: { fields: ['x-api-key', 'Token a=b'] } }],
  [apiKey, 'two\nlines', undefined],
  [apiKey, 'a key ', undefined],
  [apiKey, 'schlüssel', undefined],
  [apiKey, '', undefined],
  [
    bearer,
    'ab.C_d-9~+/==',
    { identity: 'Bearer ab.C_d-9~+/==', header: { fields: ['authorization', 'Bearer ab.C_d-9~+/=='] } },
  ],
  [bearer, 'Bearer ab', undefined],
  [
    headers,
    'Authorization: Basic YTpi\r\nX-Api-Key:a key',
    {
      identity: 'x-api-key\na key\nauthorization\nBasic YTpi',
      header: { fields: ['x-api-key', 'a key', 'authorization', 'Basic YTpi'] },
    },
  ],
  [headers, 'X-API-Key: a', undefined],
  [headers, 'X-API-Key: a\nAuthorization:', undefined],
  [headers, 'X-API-Key: a\nAuthorization: b\nX-More: 1', undefined],
  [headers, 'X-API-Key: a\nAuthorization: schlüssel', undefined],
  [bearer, 'ab\r\nX-More: 1', undefined],
];

for (const [settings, secret, credential] of credentials) {
  test(`a credential of the kind ${settings.kind} from the secret "${secret}"`, () => {
    assert.deepEqual(parseCredential(secret, settings), credential);
  });
}

test('what a secret with lines of headers lacks is named, without its values', () => {
  const form = 'it must hold a line Name: value for each of the headers under names.';
  assert.equal(credentialProblem('X-Api-Key: a\nAuthorization: Basic YTpi', headers), undefined);
  assert.equal(
    credentialProblem('X-Api-Key: a\nAuthorization: Basic gw:pw', headers),
    'behind "Authorization: Basic" it must hold user:password in Base64, as "printf %s user:password | base64" prints it.',
  );
  assert.equal(
    credentialProblem('X-Api-Key: a\nAuthorisation: b', headers),
    `${form} It has no line for authorization. Is "authorisation" a misspelling of it?`,
  );
  assert.equal(credentialProblem('X-Api-Key: a', headers), `${form} It has no line for authorization.`);
});

test('a login in Base64 where it belongs as it is, and one without a colon where Base64 belongs, are named', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const plain =
    'it holds user:password in Base64, and the gateway encodes it itself. It must hold user:password as it is.';
  assert.equal(credentialProblem(base64('gw:hunter22'), basic), plain);
  for (const password of ['hunter2', 'aGVsbG8gd29ybGQ=', 'x'.repeat(40)])
    assert.equal(credentialProblem(password, basic), undefined, password);
  const encoded = /behind "Authorization: Basic" it must hold user:password in Base64/;
  assert.match(credentialProblem(`X-Api-Key: a\nAuthorization: Basic ${base64('hunter2')}`, headers) ?? '', encoded);
});

test('a credential is in the header that its settings name, which clients cannot set', () => {
  for (const [settings, , credential] of credentials) {
    const fields = credentialFieldsOf(settings);
    if (credential !== undefined)
      assert.deepEqual(
        credential.header.fields.filter((_, index) => index % 2 === 0),
        fields,
      );
    for (const field of fields) assert.ok(isOwnedRequestHeader(field) || isSpellingOf('x_api_key', fields), field);
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
