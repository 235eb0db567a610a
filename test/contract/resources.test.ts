// The nine contracts agree with the table of resources: members, filters, sorts, scopes.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isRecord } from '../../gateway/shared/is-record.ts';
import { answerSchema, parameterSchemas, type Resource, resources } from './resources.ts';
import { bodyViolations, operation, requestContent, schemaOf } from './shipped.ts';

const common = ['id', 'metadata', 'created_at', 'updated_at'];
const sorted = (names: Iterable<string>) => [...names].sort();

for (const [plural, resource] of Object.entries(resources)) {
  const { singular } = resource;
  const ids = {
    list: `list${title(plural)}`,
    create: `create${singular}`,
    retrieve: `retrieve${singular}`,
    update: `update${singular}`,
    delete: `delete${singular}`,
  };

  describe(plural, () => {
    test('has the five operations under one path', () => {
      const { path } = operation(ids.list).operation;
      assert.equal(path, `/v1/${plural}`);
      assert.deepEqual(
        Object.values(ids).map((id) => operation(id).operation.method),
        ['GET', 'POST', 'GET', 'PATCH', 'DELETE'],
      );
      assert.equal(operation(ids.create).operation.path, path);
      for (const id of [ids.retrieve, ids.update, ids.delete])
        assert.match(operation(id).operation.path, new RegExp(`^${path}/\\{[a-z]+_id\\}$`));
    });

    test('requires the read scope to read and the write scope to write', () => {
      for (const [what, id] of Object.entries(ids)) {
        const scope = `${plural}:${what === 'list' || what === 'retrieve' ? 'read' : 'write'}`;
        assert.deepEqual(operation(id).operation.security, [{ scheme: 'apiKey', scopes: [scope] }], id);
      }
    });

    test('takes an idempotency key where something is written', () => {
      assert.equal(operation(ids.create).operation.idempotency, 'optional');
      assert.equal(operation(ids.update).operation.idempotency, 'optional');
    });

    test('filters and sorts by the members of the table', () => {
      const parameters = parameterSchemas(operation(ids.list));
      assert.deepEqual(sorted(parameters.keys()), sorted(['limit', 'cursor', 'sort', ...resource.filters]));
      const fields = ['created_at', 'updated_at', ...resource.sorts];
      const { enum: sorts, default: newestFirst } = parameters.get('sort') ?? {};
      assert.deepEqual(sorted(sorts as string[]), sorted(fields.flatMap((field) => [`${field}_asc`, `${field}_desc`])));
      assert.equal(newestFirst, 'created_at_desc');
      const { minimum, maximum, default: size } = parameters.get('limit') ?? {};
      assert.deepEqual([minimum, maximum, size], [1, 100, 20]);
    });

    test('is created from exactly its writable members', () => {
      const schema = bodySchema(ids.create);
      assert.deepEqual(sorted(schema.required as string[]), sorted(resource.required));
      assert.deepEqual(sorted(Object.keys(schema.properties as object)), sorted(writable(resource)));
      assert.equal(schema.additionalProperties, false);
    });

    test('is updated by any of them, and by the members that only PATCH may change', () => {
      const schema = bodySchema(ids.update);
      assert.equal(schema.required, undefined);
      const names = [...writable(resource), ...(resource.patchOnly ?? [])];
      assert.deepEqual(sorted(Object.keys(schema.properties as object)), sorted(names));
    });

    test('null clears each optional member and no required one', () => {
      const entry = operation(ids.update);
      const partners = resource.oneOf ?? [];
      for (const name of [...resource.optional, 'metadata'].filter((one) => !partners.includes(one)))
        assert.deepEqual(bodyViolations(entry, { [name]: null }), [], name);
      for (const name of resource.required)
        assert.deepEqual(
          bodyViolations(entry, { [name]: null }).map(({ code, param }) => [code, param]),
          [['wrong_type', name]],
        );
    });

    test('does not take members that the service sets', () => {
      const readOnly = ['id', 'created_at', 'updated_at', ...resource.readOnly];
      for (const name of readOnly) {
        const violations = bodyViolations(operation(ids.create), { [name]: null });
        assert.ok(
          violations.some(({ code, pointer }) => code === 'unknown' && pointer === `/${name}`),
          name,
        );
      }
    });

    test('is answered with every member', () => {
      const schema = answerSchema(operation(ids.retrieve), 200);
      const names = new Set([...common, ...writable(resource), ...resource.readOnly]);
      assert.deepEqual(sorted(Object.keys(schema.properties as object)), sorted(names));
      assert.deepEqual(sorted(schema.required as string[]), sorted(names));
      assert.notEqual(schema.additionalProperties, false);
    });

    test('has identifiers with its prefix', () => {
      const parameter = parameterSchemas(operation(ids.retrieve)).values().next().value;
      const pattern = new RegExp(String(parameter?.pattern));
      for (const prefix of resource.prefixes) assert.match(`${prefix}_0123456789abcdEF`, pattern);
      for (const id of [
        '0123456789abcdEF',
        'xxx_0123456789abcdEF',
        `${resource.prefixes[0]}_short`,
        `${resource.prefixes[0]}_0123456789abcd-F`,
      ])
        assert.doesNotMatch(id, pattern);
    });

    if (resource.statuses) {
      test('accepts the statuses of its life', () => {
        const { properties } = answerSchema(operation(ids.retrieve), 200);
        const status = isRecord(properties) ? properties.status : undefined;
        assert.deepEqual(sorted((status as { enum: string[] }).enum), sorted(resource.statuses ?? []));
      });
    }
  });
}

function bodySchema(id: string): Record<string, unknown> {
  const content = requestContent(operation(id));
  assert.ok(content);
  return schemaOf(operation(id), content);
}

function writable({ required, optional }: Resource): string[] {
  return [...required, ...optional, 'metadata'];
}

function title(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
