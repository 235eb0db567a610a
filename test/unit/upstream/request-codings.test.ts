// The Accept-Encoding that an upstream gets: known codings as the client weighs them, and nothing else of the client's text.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { upstreamCodings } from '../../../gateway/upstream/headers/request-lines.ts';

const cases: readonly [string, string][] = [
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'gzip, deflate, br, zstd'],
  ['gzip,br', 'gzip,br'],
  ['GZIP;Q=0.5, Br', 'gzip;q=0.5, br'],
  ['gzip;q=1.0, identity; q=0.5, *;q=0', 'gzip, identity;q=0.5, *;q=0'],
  ['x-gzip', 'gzip'],
  ['identity;q=0', 'identity;q=0'],
  ['*', '*'],
  ['', 'identity'],
  ['dcb', 'identity'],
  ['compress, aes128gcm, gzip', 'gzip'],
  ['gzip;q=oops', 'gzip;q=0'],
  ['gzip;level=9;q=0.5', 'gzip;q=0.5'],
  ['toString, __proto__, gzip', 'gzip'],
];
for (const [accepted, sent] of cases) {
  test(`${JSON.stringify(accepted)} becomes ${JSON.stringify(sent)}`, () => {
    assert.equal(upstreamCodings(accepted), sent);
  });
}

test('a long header takes linear time', () => {
  const startedAt = performance.now();
  for (const piece of ['gzip,', 'gzip, ', ' ', ',', ';', 'gzip;q=0.5,']) {
    upstreamCodings(piece.repeat(Math.floor(65_536 / piece.length)));
  }
  assert.ok(performance.now() - startedAt < 2000);
});
