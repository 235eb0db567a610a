// `gateway upstreams try` asks for a record that does not exist by an id that its contract allows, as every request through the gateway has
// one: a service may answer 422 to any other.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startUpstream } from '../../support/upstream.ts';
import { has, json, tryIt } from './try-line.ts';

const content = { 'application/json': { schema: {} } };
const documentOf = (path: string, parameters: Readonly<Record<string, object>>) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Items', version: '1' },
    components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
    security: [{ apiKey: ['items:read'] }],
    paths: {
      [path]: {
        parameters: Object.entries(parameters).map(([name, schema]) => ({ name, in: 'path', required: true, schema })),
        get: { operationId: 'getItem', responses: { 200: { description: 'One', content } } },
      },
    },
  });

/** A service that validates ids, as FastAPI does, and tells which ids it was asked for. */
async function tried(path: string, parameters: Readonly<Record<string, object>>, known: string, valid: RegExp) {
  const asked: string[] = [];
  const upstream = await startUpstream(({ url }, response) => {
    const [, id] = /^\/items\/([^/]+)/.exec(url) ?? [];
    if (id === undefined) return json(response, 404, { detail: 'Not Found' });
    asked.push(decodeURIComponent(id));
    if (!valid.test(decodeURIComponent(id))) return json(response, 422, { detail: [{ msg: 'Input should be valid' }] });
    if (id === known) return json(response, 200, { id });
    json(response, 404, { detail: 'Not here' });
  });
  return { asked, told: await tryIt(upstream, documentOf(path, parameters)) };
}

describe('upstreams try asks for an absent record by an id of the contract', () => {
  const uuid = '8e03978e-40d5-43e8-bc93-6894a57f9324';
  const kinds: Readonly<Record<string, { schema: object; known: string; valid: RegExp }>> = {
    'an integer': { schema: { type: 'integer' }, known: '1', valid: /^\d+$/ },
    'an integer of at most nine digits': {
      schema: { type: 'integer', minimum: 1, maximum: 999_999_999 },
      known: '1',
      valid: /^\d{1,9}$/,
    },
    'a UUID': {
      schema: { type: 'string', format: 'uuid' },
      known: uuid,
      valid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    },
    'a text of a pattern': {
      schema: { type: 'string', pattern: '^bk_[0-9a-f]{24}$', example: `bk_${'65af'.repeat(6)}` },
      known: `bk_${'65af'.repeat(6)}`,
      valid: /^bk_[0-9a-f]{24}$/,
    },
    'any text': { schema: { type: 'string' }, known: 'example', valid: /./ },
  };
  for (const [kind, { schema, known, valid }] of Object.entries(kinds))
    it(kind, async () => {
      const { told, asked } = await tried('/items/{id}', { id: schema }, known, valid);
      has(told, 'ok', /^What is not there is answered with 404/);
      assert.ok(
        asked.every((id) => valid.test(id)),
        asked.join(),
      );
      assert.equal(told.code, 0);
    });

  it('in front of a parameter that has few values', async () => {
    const parameters = { id: { type: 'integer' }, form: { type: 'string', enum: ['short', 'long'] } };
    const { told } = await tried('/items/{id}/{form}', parameters, '1', /^\d+$/);
    has(told, 'ok', /^What is not there is answered with 404/);
  });

  it('and does not try where each id of the contract may exist', async () => {
    const { told } = await tried('/items/{id}', { id: { type: 'integer', minimum: 1, maximum: 12 } }, '1', /^\d+$/);
    has(told, 'ok', /^What is not there was not tried: the contract allows no id that is sure to be absent\.$/);
    assert.equal(told.code, 0);
  });
});
