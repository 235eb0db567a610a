// The codings that a client accepts, by RFC 9110 section 12.5.3: weights, the star, former names, and weights that cannot be read.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptedCodings, refusesIdentity, weightOf } from '../../../gateway/shared/http/content-coding.ts';

const gzip: readonly [string | undefined, number][] = [
  ['gzip', 1],
  ['GZIP', 1],
  ['x-gzip', 1],
  ['br, gzip;q=0.5', 0.5],
  ['br ,\tgzip ; q=0.125 ', 0.125],
  ['*', 1],
  ['deflate, *;q=0.1', 0.1],
  [undefined, 0],
  ['', 0],
  [' , ,', 0],
  ['identity', 0],
  ['br', 0],
  ['gzip;q=0', 0],
  ['gzip; q=0.0, *', 0],
  ['*;q=0', 0],
  ['gzip;q=none', 0],
  ['gzip;q=1.5', 0],
  ['gzip;q=-1', 0],
  ['gzip;q=1e0', 0],
  ['xgzip', 0],
];
for (const [header, weight] of gzip) {
  test(`Accept-Encoding ${JSON.stringify(header)} gives gzip the weight ${weight}`, () => {
    assert.equal(weightOf(acceptedCodings(header), 'gzip'), weight);
  });
}

const identity: readonly [string | undefined, boolean][] = [
  [undefined, false],
  ['', false],
  ['gzip', false],
  ['identity;q=0.001', false],
  ['identity;q=0', true],
  ['*;q=0', true],
  ['*;q=0, identity', false],
  ['br, *;q=0', true],
];
for (const [header, refused] of identity) {
  test(`Accept-Encoding ${JSON.stringify(header)} ${refused ? 'excludes' : 'admits'} an answer without a coding`, () => {
    assert.equal(refusesIdentity(acceptedCodings(header)), refused);
  });
}
