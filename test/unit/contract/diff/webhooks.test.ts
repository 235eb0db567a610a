// What a webhook sends is received by clients, so it is compared as an answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, findingsOf, rulesOf } from './differences.ts';

const payload = (schema: object, more: object = {}) => ({
  post: { requestBody: { content: { 'application/json': { schema } } }, ...more },
});
const withWebhooks = (webhooks: object, components: object = {}) => documentOf({}, { webhooks, components });
const finished = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
const header = (name: string, schema: object = { type: 'string' }) => ({
  parameters: [{ name, in: 'header', schema }],
});

test('a removed webhook breaks its receivers, and a new one does not', () => {
  const [old, fresh] = [withWebhooks({ finished: payload(finished) }), withWebhooks({ other: payload(finished) })];
  assert.deepEqual(rulesOf(old, fresh), ['additive webhook-added', 'breaking webhook-removed']);
  const removed = findingsOf(old, withWebhooks({}))[0];
  assert.equal(removed?.operation, 'webhook finished');
  assert.equal(removed?.operationId, 'finished');
  assert.deepEqual(removed?.place, ['webhooks', 'finished', 'post']);
});

test('the payload may be narrowed and not widened', () => {
  const rules = (before: object, after: object) =>
    rulesOf(withWebhooks({ finished: payload(before) }), withWebhooks({ finished: payload(after) }));
  assert.deepEqual(rules(finished, { type: 'object' }), ['breaking response-property-removed']);
  assert.deepEqual(rules(finished, { ...finished, required: [] }), ['breaking response-property-optional']);
  assert.deepEqual(rules({ enum: ['a'] }, { enum: ['a', 'b'] }), ['breaking response-value-added']);
  assert.deepEqual(rules({ type: 'object' }, finished), ['additive response-property-added']);
  assert.deepEqual(rules({ type: 'string' }, { type: 'string', maxLength: 3 }), ['additive response-bound-narrowed']);
});

test('a payload and a header that are no longer sent break receivers', () => {
  const old = withWebhooks({ finished: payload(finished, header('X-Signature')) });
  assert.deepEqual(rulesOf(old, withWebhooks({ finished: { post: header('x-signature') } })), [
    'breaking webhook-payload-removed',
  ]);
  assert.deepEqual(rulesOf(old, withWebhooks({ finished: payload(finished) })), ['breaking response-header-removed']);
  const changed = payload(finished, header('X-Signature', { type: 'integer' }));
  assert.deepEqual(rulesOf(old, withWebhooks({ finished: changed })), ['breaking response-type-changed']);
});

test('references to path items and to schemas are followed', () => {
  const components = (schema: object) => ({
    pathItems: { Finished: payload({ $ref: '#/components/schemas/Finished' }) },
    schemas: { Finished: schema },
  });
  const webhooks = { finished: { $ref: '#/components/pathItems/Finished' } };
  assert.deepEqual(
    findingsOf(
      withWebhooks(webhooks, components(finished)),
      withWebhooks(webhooks, components({ type: 'object' })),
    ).map(({ rule, reason }) => `${rule}: ${reason}`),
    ['response-property-removed: payload application/json/id: the property was removed'],
  );
});
