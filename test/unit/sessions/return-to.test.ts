// Where a login may lead: every known way to write another address as if it were a path.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { returnPathOf } from '../../../gateway/sessions/return-to.ts';

const origin = 'https://app.example.com';

const refused = [
  '',
  'customers',
  'https://evil.example/',
  'https:evil.example',
  '//evil.example',
  '///evil.example',
  '////evil.example/..',
  '/\\evil.example',
  '\\\\evil.example',
  '\\/evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '\t//evil.example',
  ' //evil.example',
  '/ /evil.example',
  '/\u0000/evil.example',
  '/\u00a0/evil.example',
  '/.//evil.example',
  '/..//evil.example',
  '/./\\evil.example',
  '/a/../..//evil.example',
  '/%2e//evil.example',
  '/%2E%2e//evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  '/\u2215evil.example',
  '/ümlaut',
  '@evil.example',
  '?next=/',
  '#/',
  '/session/login',
  '/session/logout?x=1',
  '/session',
  '/x/../session/login',
  `/${'a'.repeat(1024)}`,
];

for (const text of refused) {
  it(`${JSON.stringify(text.slice(0, 40))} is no path of the origin`, () => {
    assert.equal(returnPathOf(text, origin), undefined);
  });
}

it('paths of the origin are taken as browsers resolve them', () => {
  assert.equal(returnPathOf('/', origin), '/');
  assert.equal(returnPathOf('/customers?page=2#top', origin), '/customers?page=2#top');
  assert.equal(returnPathOf('/a/../b', origin), '/b');
  assert.equal(returnPathOf('/a?next=//evil.example', origin), '/a?next=//evil.example');
  assert.equal(returnPathOf('/sessions', origin), '/sessions');
  assert.equal(returnPathOf('/a//b', origin), '/a//b');
  assert.equal(returnPathOf('/@evil.example', origin), '/@evil.example');
});

it('every accepted path stays on the origin', () => {
  const piece = fc.constantFrom(
    '/',
    '\\',
    '.',
    '..',
    '%2e',
    '%2f',
    '%5c',
    '@',
    ':',
    '?',
    '#',
    'evil.example',
    '\t',
    ' ',
    'a',
    ';',
    '//',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const path = returnPathOf(pieces.join(''), origin);
      if (path !== undefined) assert.equal(new URL(path, `${origin}/session/callback`).origin, origin);
    }),
  );
});
