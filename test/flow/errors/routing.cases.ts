// Every refusal that is about path and method.

import assert from 'node:assert/strict';
import { ask, requestOf } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { World } from '../../support/world.ts';

type Case = RefusalCase<World>;

const paths: readonly Case[] = [
  { name: 'a path that is not served', code: 'route_not_found', provoke: ({ call }) => call('GET /v1/nothing') },
  {
    name: 'a path with a misspelt word',
    code: 'route_not_found',
    provoke: ({ call }) => call('GET /v1/thigns'),
    also: ({ error }) => {
      assert.equal(error.nearest_path, '/v1/things');
      assert.equal(error.message, 'There is nothing at this path. Did you mean /v1/things?');
    },
  },
  { name: 'the root', code: 'route_not_found', provoke: ({ call }) => call('GET /') },
  { name: 'a trailing slash', code: 'route_not_found', provoke: ({ call }) => call('GET /v1/things/') },
  { name: 'another case', code: 'route_not_found', provoke: ({ call }) => call('GET /V1/things') },
  ...['/api/v1/things', '/api/v1/nothing', '/api/v1/things/', '/api/v1'].map(
    (path): Case => ({
      name: `a path with /api in front: ${path}`,
      code: 'route_not_found',
      provoke: ({ call }) => call(`GET ${path}`),
      also: ({ error }) => assert.match(String(error.message), /without \/api in front: \/v1\//),
    }),
  ),
  {
    name: 'a version that does not exist',
    code: 'version_unknown',
    provoke: ({ call }) => call('GET /v9/things'),
    also: ({ error }) => assert.deepEqual(error.supported_versions, ['v1']),
  },
  {
    name: 'an unknown path without a key',
    code: 'route_not_found',
    provoke: ({ gateway }) => ask(gateway.port, requestOf('GET /v1/nothing')),
  },
  { name: 'an encoded slash', code: 'malformed_path', provoke: ({ call }) => call('GET /v1/things/a%2Fb') },
  { name: 'a broken escape', code: 'malformed_path', provoke: ({ call }) => call('GET /v1/things/a%2') },
  { name: 'a target that is not a path', code: 'malformed_path', provoke: ({ call }) => call('GET *') },
];

const methods: readonly Case[] = [
  ...['DELETE', 'PUT', 'TRACE', 'QUERY'].map(
    (method): Case => ({
      name: `${method} where it is not served`,
      code: 'method_not_allowed',
      provoke: ({ call }) => call(`${method} /v1/things`),
      also({ headers, error }) {
        assert.equal(headers.allow, 'GET, HEAD, OPTIONS, POST');
        assert.deepEqual(error.allowed_methods, ['GET', 'HEAD', 'OPTIONS', 'POST']);
      },
    }),
  ),
  {
    name: 'HEAD where there is no GET',
    code: 'method_not_allowed',
    // The answer to HEAD has no body to look at, so GET stands for both here.
    provoke: ({ call }) => call('GET /v1/orders'),
    also: ({ headers }) => assert.equal(headers.allow, 'OPTIONS, POST'),
  },
  {
    name: 'CONNECT',
    code: 'method_not_allowed',
    provoke: ({ gateway }) =>
      ask(gateway.port, 'CONNECT upstream.internal:443 HTTP/1.1\r\nHost: upstream.internal\r\n\r\n'),
    also: ({ headers }) => assert.equal(headers.allow, ''),
  },
  {
    name: 'a method that HTTP defines and the gateway does not serve',
    code: 'method_not_implemented',
    provoke: ({ call }) => call('PROPFIND /v1/things'),
  },
  {
    name: 'writing to the published keys',
    code: 'method_not_allowed',
    provoke: ({ call }) => call('DELETE /.well-known/jwks.json'),
    also: ({ headers }) => assert.equal(headers.allow, 'GET, HEAD, OPTIONS'),
  },
];

export const routingCases: readonly Case[] = [...paths, ...methods];
