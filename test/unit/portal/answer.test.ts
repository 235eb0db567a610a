import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptsGzip } from '../../../gateway/portal/answer.ts';

const cases: readonly [string | undefined, boolean][] = [
  ['gzip', true],
  ['GZIP', true],
  ['br, gzip;q=0.5', true],
  ['*', true],
  ['deflate, *;q=0.1', true],
  [undefined, false],
  ['', false],
  ['identity', false],
  ['br', false],
  ['gzip;q=0', false],
  ['gzip; q=0.0, *', false],
  ['*;q=0', false],
  ['gzip;q=none', false],
  ['xgzip', false],
];

for (const [header, accepted] of cases) {
  test(`Accept-Encoding ${JSON.stringify(header)} ${accepted ? 'takes' : 'does not take'} gzip`, () => {
    assert.equal(acceptsGzip(header), accepted);
  });
}
