// The contract of the gateway itself and the handlers that execute it name the same operations.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { parse } from 'yaml';
import { HANDLERS } from '../../gateway/administration/service/service.ts';
import { SESSION_HANDLERS } from '../../gateway/sessions/service/service.ts';
import { GATEWAY_SCOPES } from '../../gateway/shared/contracts/scopes.ts';

interface Declared {
  readonly operationId: string;
  readonly security: readonly { readonly apiKey: readonly string[] }[];
}

const declared = ['account', 'administration'].flatMap((name) => {
  const document = parse(readFileSync(`openapi/gateway/${name}.yaml`, 'utf8')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Declared>>>>;
  };
  return Object.values(document.paths).flatMap((item) => Object.values(item));
});

it('every operation has a handler', () => {
  const without = declared.map(({ operationId }) => operationId).filter((id) => !Object.hasOwn(HANDLERS, id));
  assert.deepEqual(without, []);
});

it('every handler has an operation', () => {
  const ids = new Set(declared.map(({ operationId }) => operationId));
  assert.deepEqual(
    Object.keys(HANDLERS).filter((id) => !ids.has(id)),
    [],
  );
});

it('every operation of sessions has a handler, and the reverse', () => {
  const { paths } = parse(readFileSync('openapi/session/session.yaml', 'utf8')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Declared>>>>;
  };
  const ids = Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
  assert.deepEqual(ids.sort(), Object.keys(SESSION_HANDLERS).sort());
});

it('operations without a scope, which every key may use, also a test key, are those that show a key its own requests', () => {
  const free = declared.filter(({ security }) => security.some(({ apiKey }) => apiKey.length === 0));
  assert.deepEqual(
    free.map(({ operationId }) => operationId),
    ['listRequests', 'explainRequest'],
  );
});

it('every known scope belongs to an operation, and every operation has known scopes', () => {
  const scopes = declared.flatMap(({ security }) => security.flatMap(({ apiKey }) => apiKey));
  assert.deepEqual([...new Set(scopes)].sort(), GATEWAY_SCOPES.toSorted());
});
