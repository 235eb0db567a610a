import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { createMatch, createMatchBySites } from '../../../gateway/contract/match.ts';
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

test('a misspelt word and a missing version are answered with the path that the client meant', () => {
  for (const [path, near] of [
    ['/v1/job', '/v1/jobs'],
    ['/v1/jbos', '/v1/jobs'],
    ['/v1/jobss', '/v1/jobs'],
    ['/v1/jabs', '/v1/jobs'],
    ['/v1/Jobs', '/v1/jobs'],
    ['/v1/job/job_1', '/v1/jobs/{job_id}'],
    ['/jobs', '/v1/jobs'],
    ['/v1/boats', undefined],
    ['/', undefined],
    ['/v1/job/x/y/z', undefined],
    [`/v1/${'j'.repeat(5000)}`, undefined],
    [`/v1${'/job'.repeat(5000)}`, undefined],
    ['/v1/__proto__', undefined],
  ] as const) {
    const { details } = outcome('GET', path) as GatewayError;
    assert.equal(details.fields?.nearest_path, near, path.slice(0, 40));
    assert.equal(details.hint, near === undefined ? undefined : 'near', path.slice(0, 40));
  }
});

test('the routes of all sites are made before the first request', () => {
  const sites = [{}, {}];
  const asked: object[] = [];
  createMatchBySites({
    operations: [operationFor('GET', '/v1/jobs')],
    all: sites,
    sitesFor: () => assert.fail('no request is there'),
    isAt: (_, site) => asked.push(site) > 0,
  });
  assert.deepEqual(asked, sites);
});

test('the near path is a path of the same site', () => {
  const [here, elsewhere] = [{}, {}];
  const operations = [operationFor('GET', '/v1/jobs'), operationFor('GET', '/v1/secrets')];
  const bySites = createMatchBySites({
    operations,
    all: [here, elsewhere],
    sitesFor: ({ path }) => (path === 'here' ? here : elsewhere),
    isAt: ({ path }, site) => (path === '/v1/secrets') === (site === elsewhere),
  });
  const nearOf = (site: string, path: string) => {
    try {
      return bySites.match({ ...admitted('GET', path), path: site });
    } catch (error) {
      return (error as GatewayError).details.fields?.nearest_path;
    }
  };
  assert.equal(nearOf('elsewhere', '/v1/secret'), '/v1/secrets');
  assert.equal(nearOf('here', '/v1/secret'), undefined);
});
