// The documents under /openapi: valid by themselves, and with everything that the shipped contracts promise.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { parse } from 'yaml';
import { publishedContracts } from '../../gateway/contract/merged/groups.ts';
import { toYaml } from '../../gateway/portal/yaml.ts';
import type { PublishedContract } from '../../gateway/shared/contracts/published-contract.ts';
import { parseIdempotencyKey } from '../../gateway/shared/http/idempotency-key.ts';
import { operations } from './shipped.ts';

interface Document {
  readonly openapi: string;
  readonly servers: unknown;
  readonly paths: Record<string, Record<string, Record<string, unknown>>>;
  readonly components: Record<string, Record<string, unknown>>;
}

const server = 'https://api.platform.test';

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
    assert.deepEqual([...documents.keys()], ['v1', 'gateway', 'mail']);
  });

  it('are valid OpenAPI 3.1, say where they are, and give the linter nothing to recommend', async () => {
    const config = await createConfig({ extends: ['recommended'], rules: { 'no-unused-components': 'error' } });
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

  it('lead from each list to its next page, and from each new record to the record', () => {
    type Links = Record<string, { operationId: string; parameters: Record<string, string> }>;
    const linksAt = (path: string, method: string, status: string) => {
      const responses = documents.get('v1')?.paths[path]?.[method]?.responses as Record<string, { links?: Links }>;
      return responses[status]?.links ?? {};
    };
    const lists = operations.filter(({ operation }) => operation.id.startsWith('list') && operation.version === 'v1');
    for (const { operation, parameters } of lists.filter(({ operation }) => operation.id !== 'listFiles')) {
      const { NextPage } = linksAt(operation.path, 'get', '200');
      assert.equal(NextPage?.operationId, operation.id);
      // A cursor belongs to the filters and the order of its list.
      const names = parameters.map(({ value }) => (value as { name: string }).name);
      assert.deepEqual(
        NextPage?.parameters,
        Object.fromEntries(
          names.map((name) => [name, name === 'cursor' ? '$response.body#/cursor' : `$request.query.${name}`]),
        ),
      );
      const { Retrieve } = linksAt(operation.path, 'post', '201');
      assert.match(Retrieve?.operationId ?? '', /^retrieve/);
      assert.deepEqual(Object.values(Retrieve?.parameters ?? {}), ['$response.body#/id']);
    }
  });

  it('link the list of principals to its next page with the same filters and the page number', () => {
    type Links = Record<string, { operationId: string; description: string; parameters: object }>;
    const responses = documents.get('mail')?.paths['/api/principal']?.get?.responses as Record<
      string,
      { links: Links }
    >;
    const { NextPage } = responses['200']?.links ?? {};
    assert.equal(NextPage?.operationId, 'listPrincipals');
    assert.match(NextPage?.description ?? '', /`page` to one more/);
    const names = ['limit', 'filter', 'types'];
    assert.deepEqual(NextPage?.parameters, Object.fromEntries(names.map((name) => [name, `$request.query.${name}`])));
  });

  it('describe the idempotency keys that the gateway accepts', () => {
    const parameter = documents.get('v1')?.components.parameters?.IdempotencyKey as {
      description: string;
      schema: Record<string, string>;
    };
    const { pattern = '', maxLength, minLength } = parameter.schema;
    assert.equal(minLength, 1);
    const keys = ['a', 'a'.repeat(255), '"a"', `"${'a'.repeat(255)}"`, '"\\"\\\\"', 'a"b', '~'];
    const longest = `"${'\\"'.repeat(255)}"`;
    for (const key of [...keys, longest]) {
      assert.notEqual(parseIdempotencyKey(key), undefined, key);
      assert.match(key, new RegExp(pattern, 'u'));
    }
    assert.equal(longest.length, maxLength);
    // The key and the header differ by the quotes and backslashes: both lengths are told.
    assert.match(parameter.description, /1 to 255 visible ASCII[\s\S]*up to 512 characters/);
    for (const key of ['', 'a b', 'a'.repeat(256), 'ä', '"a', '""']) assert.doesNotMatch(key, new RegExp(pattern, 'u'));
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
      const scoped = operation.security.map(({ scheme, scopes }) => ({ [scheme]: scopes }));
      const hasScopes = operation.security.some(({ scopes }) => scopes.length > 0);
      assert.deepEqual(value['x-security-scopes'], hasScopes ? scoped : undefined);
      assert.deepEqual(
        value.security,
        operation.security.map(({ scheme }) => ({ [scheme]: [] })),
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
      // Readers of YAML 1.1 take dates without quotes for dates.
      assert.deepEqual(parse(yaml, { maxAliasCount: 0, version: '1.1' }), documents.get(one.name));
      assert.match(yaml, /^openapi: 3\.1\.1\ninfo:\n {2}title: /);
    }
  });
});
