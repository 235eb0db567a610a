import assert from 'node:assert/strict';
import { it } from 'node:test';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { failureText, toUpstreamFailure, upstreamFailure } from '../../../gateway/catalogue/upstream-failure.ts';

const systemError = (code: string, more: object = {}) =>
  Object.assign(new Error(`${code} happened`), { code, ...more });
const refused = systemError('ECONNREFUSED', { address: '10.0.0.7', port: 8080 });

const cases: readonly (readonly [number | Error, string])[] = [
  [503, 'status 503'],
  [refused, 'ECONNREFUSED 10.0.0.7:8080'],
  [toUpstreamFailure(refused), 'ECONNREFUSED 10.0.0.7:8080'],
  [toUpstreamFailure(new AggregateError([refused, refused])), 'ECONNREFUSED 10.0.0.7:8080'],
  [systemError('ENOENT', { address: '/run/items.sock' }), 'ENOENT /run/items.sock'],
  [systemError('ENOTFOUND', { hostname: 'items' }), 'ENOTFOUND items'],
  [systemError('ECONNRESET'), 'ECONNRESET (ECONNRESET happened)'],
  [upstreamFailure('upstream_timeout', 'http_response_timeout'), 'http_response_timeout'],
  [new GatewayError('upstream_timeout'), 'upstream_timeout'],
  [new Error('something else'), 'something else'],
];

it('a failure is shown by its code and address, or by the status of the answer', () => {
  for (const [failure, text] of cases) assert.equal(failureText(failure), text);
});
