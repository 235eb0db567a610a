import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { createMatch } from '../../../gateway/contract/match.ts';
import type { Admitted } from '../../../gateway/exchange/exchange.ts';
import { operationFor } from './operations.ts';

const { match, allowedMethods } = createMatch([
  operationFor('GET', '/v1/jobs'),
  operationFor('POST', '/v1/jobs'),
  operationFor('GET', '/v1/jobs/{job_id}'),
  operationFor('HEAD', '/v2/files'),
  operationFor('GET', '/v2/files'),
]);

const admitted = (method: string, path: string) =>
  ({ method, segments: path.split('/').slice(1), trail: {} }) as unknown as Admitted;

function outcome(method: string, path: string) {
  try {
    const { operation, pathValues } = match(admitted(method, path));
    return [operation.id, ...pathValues];
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error;
  }
}

test('a request finds its operation, and the trail has it', () => {
  const request = admitted('GET', '/v1/jobs/job_1');
  const { operation, pathValues } = match(request);
  assert.deepEqual([operation.path, pathValues], ['/v1/jobs/{job_id}', ['job_1']]);
  assert.equal(request.trail.operation, operation);
});

test('HEAD follows GET unless the contract declares HEAD', () => {
  assert.deepEqual(outcome('HEAD', '/v1/jobs'), ['GET /v1/jobs']);
  assert.deepEqual(outcome('HEAD', '/v2/files'), ['HEAD /v2/files']);
});

test('a method that the path lacks is answered with those it has', () => {
  const error = outcome('DELETE', '/v1/jobs') as GatewayError;
  assert.equal(error.code, 'method_not_allowed');
  assert.deepEqual(error.details.headers, { Allow: 'GET, HEAD, OPTIONS, POST' });
  assert.deepEqual(allowedMethods(admitted('OPTIONS', '/v1/jobs/x')), ['GET', 'HEAD', 'OPTIONS']);
});

test('the reasons for no match are distinct', () => {
  for (const [method, path, code] of [
    ['GET', '/v1/job', 'route_not_found'],
    ['GET', '/', 'route_not_found'],
    ['GET', '/v3/jobs', 'version_unknown'],
    ['GET', '/api/v1/jobs', 'route_not_found'],
    ['BREW', '/v1/jobs', 'method_not_implemented'],
    ['BREW', '/nowhere', 'method_not_implemented'],
  ] as const)
    assert.equal((outcome(method, path) as GatewayError).code, code, `${method} ${path}`);
  assert.deepEqual((outcome('GET', '/v3/jobs') as GatewayError).details.fields, { supported_versions: ['v1', 'v2'] });
  assert.throws(() => allowedMethods(admitted('OPTIONS', '/nowhere')), { code: 'route_not_found' });
});

test('a slash at the end is named if the path without it is the path of an operation', () => {
  for (const [path, hint] of [
    ['/v1/jobs/', 'trailing_slash'],
    ['/v1/jobs/job_1/', 'trailing_slash'],
    ['/v1/jobs//', undefined],
    ['/v1/other/', undefined],
    ['/', undefined],
  ] as const)
    assert.equal((outcome('GET', path) as GatewayError).details.hint, hint, path);
});

test('without versions an operation has no version', () => {
  const unversioned = createMatch([operationFor('GET', '/jobs')]);
  assert.throws(() => unversioned.match(admitted('GET', '/v1/jobs')), { code: 'route_not_found' });
});
