import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOwnedRequestHeader } from '../../../gateway/shared/http/owned-headers.ts';
import {
  type CredentialSettings,
  type ParsedCredential,
  parseCredential,
} from '../../../gateway/upstream/credentials/credential-kinds.ts';

const basic = { kind: 'basic', user: 'gateway', secret: 'entry' } as const;

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
];

for (const [settings, secret, credential] of credentials) {
  test(`a credential of the kind ${settings.kind} from the secret "${secret}"`, () => {
    assert.deepEqual(parseCredential(secret, settings), credential);
  });
}

test('no client can set the header of a credential', () => {
  const names = credentials.flatMap(([, , credential]) => credential?.header.name ?? []);
  assert.deepEqual(
    names.filter((name) => !isOwnedRequestHeader(name)),
    [],
  );
});
