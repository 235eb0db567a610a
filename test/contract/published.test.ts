// The documents under /openapi: valid by themselves, and with everything that the shipped contracts promise.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { parse } from 'yaml';
import { type PublishedContract, publishedContracts } from '../../gateway/contract/merged/groups.ts';
import { toYaml } from '../../gateway/portal/yaml.ts';
import { operations } from './shipped.ts';

interface Document {
  readonly openapi: string;
  readonly servers: unknown;
  readonly paths: Record<string, Record<string, Record<string, unknown>>>;
  readonly components: Record<string, Record<string, unknown>>;
}

const server = 'https://api.example.com';

describe('published contracts', () => {
  let published: PublishedContract[];
  const documents = new Map<string, Document>();
  before(async () => {
    published = publishedContracts(operations, {
      serverOf: () => server,
      isDeprecated: ({ id }) => id === 'createJob',
    });
    for (const one of published) documents.set(one.name, JSON.parse((await one.json()).toString('utf8')));
  });

  it('are one for each version, and one for operations without a version', () => {
    assert.deepEqual([...documents.keys()], ['v1', 'mail']);
  });

  it('are valid OpenAPI 3.1 and say where they are', async () => {
    const rules = { struct: 'error', 'no-unresolved-refs': 'error', 'path-parameters-defined': 'error' } as const;
    const further = {
      'operation-operationId-unique': 'error',
      'security-defined': 'error',
      'no-unused-components': 'error',
    } as const;
    const config = await createConfig({ rules: { ...rules, ...further } });
    for (const [name, document] of documents) {
      assert.equal(document.openapi, '3.1.1');
      assert.deepEqual(document.servers, [{ url: server }]);
      const source = JSON.stringify(document);
      const problems = await lintFromString({ source, absoluteRef: `/${name}.json`, config });
      assert.deepEqual(
        problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
        [],
      );
    }
  });

  it('hold every operation once, with its request, its answers and examples', () => {
    const held = [...documents.values()].flatMap(({ paths }) =>
      Object.entries(paths).flatMap(([path, item]) =>
        Object.entries(item)
          .filter(([, value]) => typeof value === 'object' && 'operationId' in value)
          .map(([method, value]) => ({ path, method: method.toUpperCase(), value })),
      ),
    );
    assert.deepEqual(
      held.map(({ path, method }) => `${method} ${path}`).sort(),
      operations.map(({ operation: { method, path } }) => `${method} ${path}`).sort(),
    );
    for (const { value } of held) {
      const { operation, located } = operations.find((one) => one.operation.id === value.operationId) ?? assert.fail();
      assert.deepEqual(
        value.security,
        operation.security.map(({ scheme, scopes }) => ({ [scheme]: scopes })),
      );
      const original = located.value as Record<string, object>;
      assert.deepEqual(Object.keys(value.responses as object), Object.keys(original.responses ?? {}));
      assert.equal(JSON.stringify(value).split('"example').length, JSON.stringify(original).split('"example').length);
    }
  });

  it('mark deprecated operations', () => {
    const job = documents.get('v1')?.paths['/v1/jobs'];
    assert.equal(job?.post?.deprecated, true);
    assert.equal(job?.get?.deprecated, undefined);
  });

  it('say nothing that is only for the gateway', () => {
    for (const document of documents.values()) assert.doesNotMatch(JSON.stringify(document), /x-gateway-/);
  });

  it('say the same as YAML', async () => {
    for (const one of published) {
      const yaml = (await toYaml(await one.json())).toString('utf8');
      assert.deepEqual(parse(yaml, { maxAliasCount: 0 }), documents.get(one.name));
      assert.match(yaml, /^openapi: 3\.1\.1\ninfo:\n {2}title: /);
    }
  });
});
