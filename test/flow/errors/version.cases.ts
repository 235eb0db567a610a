// Refusals because something has come to its end.

import assert from 'node:assert/strict';
import { ask, requestOf } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { World } from '../../support/world.ts';

export const versionCases: readonly RefusalCase<World>[] = [
  {
    name: 'an operation past its sunset',
    code: 'version_sunset',
    provoke: ({ call }) => call('POST /v1/orders', { 'Content-Type': 'application/json' }, '{}'),
    also({ headers, error }) {
      assert.equal(error.sunset, '2027-02-01');
      assert.equal(error.successor, 'createThing');
      assert.equal(headers.deprecation, `@${Date.parse('2026-01-01') / 1000}`);
      assert.equal(headers.sunset, 'Mon, 01 Feb 2027 00:00:00 GMT');
      assert.match(headers.link ?? '', /<http:\/\/localhost:8080\/v1\/things>; rel="successor-version"/);
    },
  },
  {
    name: 'an operation past its sunset, without a key',
    code: 'version_sunset',
    provoke: ({ gateway }) => ask(gateway.port, requestOf('POST /v1/orders', { 'Content-Length': '0' })),
  },
];
