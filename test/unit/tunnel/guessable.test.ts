import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGuessable } from '../../../gateway/tunnel/guessable.ts';

const guessableIn = createGuessable(['api_', 'Key-']);
const isGuessable = (authorization: string | undefined) => {
  const found = guessableIn({
    headers: new Map(authorization === undefined ? [] : [['authorization', authorization]]),
  });
  assert.ok(found === undefined || found === authorization);
  return found !== undefined;
};

const guessed = [
  ...['Basic Z3Vlc3M=', 'basic Z3Vlc3M=', 'Basic', 'Digest username="a"', 'NTLM abc', 'api_Z3Vlc3M=', ''],
  ...[
    'Bearer api_Z3Vlc3M=',
    'bearer api_Z3Vlc3M=',
    'BEARER API_Z3Vlc3M=',
    'Bearer   api_Z3Vlc3M=',
    'Bearer\tapi_Z3Vlc3M=',
  ],
  ...['Bearer api_', 'Bearer key-Z3Vlc3M', 'Bearer kEy-Z3Vlc3M'],
  // Of no form that a token has: a service may read it as anything.
  ...[
    'Bearer',
    'Bearer x, Basic Z3Vlc3M=',
    'Bearer x Basic Z3Vlc3M=',
    'Bearer "api_Z3Vlc3M="',
    'Bearer\u00a0api_Z3Vlc3M=',
  ],
];
for (const authorization of guessed)
  test(`${JSON.stringify(authorization)} can be guessed`, () => assert.ok(isGuessable(authorization)));

const safe = [
  ...[
    'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
    'bearer abc',
    'Bearer   abc==',
    'Bearer xapi_Z3Vlc3M=',
    'Bearer ap',
  ],
  'Bearer -._~+/',
];
for (const authorization of [...safe, undefined])
  test(`${JSON.stringify(authorization)} cannot be guessed`, () => assert.ok(!isGuessable(authorization)));

test('without such beginnings every token is one that cannot be guessed', () => {
  const none = createGuessable([]);
  assert.equal(none({ headers: new Map([['authorization', 'Bearer api_Z3Vlc3M=']]) }), undefined);
  assert.equal(none({ headers: new Map([['authorization', 'Basic Z3Vlc3M=']]) }), 'Basic Z3Vlc3M=');
});
