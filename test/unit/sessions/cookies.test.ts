// The cookies of sessions: found among others, never taken from a name that only looks alike, and withheld from services.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loginValuesIn, sessionCookieLine, sessionValueIn } from '../../../gateway/sessions/cookies.ts';
import {
  isSessionCookieName,
  setsSessionCookie,
  withoutSessionCookies,
} from '../../../gateway/shared/http/session-cookies.ts';

const value = 'A'.repeat(43);
const name = '__Host-Http-gateway-session';

describe('the session cookie', () => {
  const found: Readonly<Record<string, string>> = {
    alone: `${name}=${value}`,
    'between others': `a=1; ${name}=${value}; b=2`,
    'without spaces': `a=1;${name}=${value};b=2`,
    'behind a name that contains it': `x${name}=other; ${name}=${value}`,
    'behind a value that contains it': `a=${name}=${'B'.repeat(43)}; ${name}=${value}`,
  };
  for (const [what, header] of Object.entries(found))
    it(`is found ${what}`, () => assert.equal(sessionValueIn(header, true), value));

  const absent: Readonly<Record<string, string>> = {
    'there is none': 'a=1',
    'the name has no prefix': `gateway-session=${value}`,
    'the prefix is in another case': `__host-http-gateway-session=${value}`,
    'it has no value': `${name}=`,
    'it is too short': `${name}=${value.slice(1)}`,
    'it is too long': `${name}=${value}A`,
    'it is quoted': `${name}="${value}"`,
    'there are two': `${name}=${value}; ${name}=${'B'.repeat(43)}`,
    'there are two alike': `${name}=${value}; ${name}=${value}`,
    'it is the value of another': `a=${name}=${value}`,
  };
  for (const [what, header] of Object.entries(absent))
    it(`is not taken if ${what}`, () => assert.equal(sessionValueIn(header, true), undefined));

  it('has every attribute that guards it', () => {
    assert.equal(sessionCookieLine('x', true), `${name}=x; Path=/; HttpOnly; SameSite=Strict; Secure`);
    assert.equal(sessionCookieLine('x', false), 'gateway-session=x; Path=/; HttpOnly; SameSite=Strict');
  });

  it('takes time in proportion to the header', () => {
    const header = `${name} `.repeat(20_000);
    const startedAt = performance.now();
    assert.equal(sessionValueIn(header, true), undefined);
    assert.ok(performance.now() - startedAt < 5000);
  });
});

it('logins in progress are told apart by the rest of their names', () => {
  const header = 'a=1; __Host-Http-gateway-login-x=1; __Host-Http-gateway-login-y=2; gateway-login-z=3';
  assert.deepEqual(
    [...loginValuesIn(header, true)],
    [
      ['x', '1'],
      ['y', '2'],
    ],
  );
  assert.deepEqual([...loginValuesIn(header, false)], [['z', '3']]);
});

it('services get all cookies but these', () => {
  assert.equal(withoutSessionCookies(`a=1; ${name}=${value}; b=2`), 'a=1; b=2');
  assert.equal(withoutSessionCookies(`${name}=${value};gateway-login-x=1`), undefined);
  assert.equal(withoutSessionCookies('a=1;b=2'), 'a=1;b=2');
  assert.equal(withoutSessionCookies('my-gateway-session=1'), 'my-gateway-session=1');
  assert.equal(withoutSessionCookies('gateway-session'), undefined, 'a cookie without a name');
});

it('services set none of these', () => {
  for (const line of [`${name}=x; Path=/`, 'gateway-session=x', ' gateway-login-x=1', `=${name}=x`, `== ${name}=x`])
    assert.equal(setsSessionCookie(line), true, line);
  for (const line of ['sid=gateway-session=x', 'a=1; gateway-session=x'])
    assert.equal(setsSessionCookie(line), false, line);
  assert.equal(isSessionCookieName('gateway-sessions'), false);
});
