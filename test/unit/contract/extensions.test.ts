import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileDocument, documentOf } from './compiled.ts';

const responses = { 200: { description: 'fine' } };

async function operationWith(members: { document?: object; path?: object; operation?: object }, says?: object) {
  const get = { operationId: 'it', responses, ...members.operation };
  const { operations, mistakes } = await compileDocument(
    { ...documentOf({ '/it': { get, post: { ...get, operationId: 'post' }, ...members.path } }), ...members.document },
    says,
  );
  const reasons = mistakes.map(({ place, reason, remedy }) => `${place}: ${reason} ${remedy}`);
  return { get: operations[0]?.operation, post: operations[1]?.operation, reasons };
}

test('the declaration closer to the operation wins', async () => {
  const { get } = await operationWith(
    {
      document: { 'x-gateway-cost': 2, 'x-gateway-response': 'off' },
      path: { 'x-gateway-cost': 3, 'x-gateway-body': 'stream' },
      operation: { 'x-gateway-cost': 4 },
    },
    { public: true, cost: 1, idempotency: 'off' },
  );
  assert.deepEqual([get?.cost, get?.answerCheck, get?.body], [4, 'off', 'stream']);
});

test('idempotency is for POST and PATCH', async () => {
  const { get, post } = await operationWith({ document: { 'x-gateway-idempotency': 'required' } });
  assert.deepEqual([get?.idempotency, post?.idempotency], ['off', 'required']);
});

test('the values that mean nothing are mistakes with the values that do', async () => {
  for (const [members, sentence] of [
    [{ 'x-gateway-costs': 1 }, 'x-gateway-costs is not known. Did you mean "x-gateway-cost"?'],
    [{ 'x-gateway-cost': 0 }, '0 is not possible here. A cost is a whole number from 1 to 1000000.'],
    [{ 'x-gateway-cost': 1_000_001 }, '1000001 is not possible here. A cost is a whole number from 1 to 1000000.'],
    [{ 'x-gateway-body': 'buffered' }, '"buffered" is not a possible value. Use one of: buffer, stream.'],
    [{ 'x-gateway-public': false }, 'false is not a possible value. Use one of: true.'],
    [{ 'x-gateway-upstream': 'its' }, '"its" is not defined in upstreams.yaml. Did you mean "it"?'],
    [{ 'x-gateway-limit': 'any' }, '"any" is not defined in limits.yaml under extra. None is defined.'],
  ] as const) {
    const { reasons } = await operationWith({ operation: members });
    const name = Object.keys(members)[0];
    assert.deepEqual(reasons, [`paths./it.get.${name}: ${sentence}`, `paths./it.post.${name}: ${sentence}`]);
  }
});

test('a member where it has no meaning is a mistake', async () => {
  for (const operation of [
    { parameters: [{ name: 'q', in: 'query', schema: { type: 'string', 'x-gateway-cost': 1 } }] },
    { responses: { 200: { description: 'fine', 'x-gateway-response': 'off' } } },
  ]) {
    const { reasons } = await operationWith({ operation });
    assert.match(reasons[0] ?? '', /x-gateway-\w+ has no meaning here\. Move it to the operation/);
  }
});

test('a parameter that takes slashes is a whole segment of the path, and the only one', async () => {
  const path = (name: string, more: object) => ({ name, in: 'path', required: true, schema: {}, ...more });
  const rest = { 'x-gateway-path': 'rest' };
  const reasonsOf = async (template: string, ...parameters: object[]) => {
    const document = documentOf({ [template]: { get: { operationId: 'it', parameters, responses } } });
    const { operations, mistakes } = await compileDocument(document);
    return mistakes.length > 0 ? mistakes.map(({ reason }) => reason) : operations[0]?.operation.restOfPath;
  };
  assert.equal(await reasonsOf('/{a}/{b}', path('a', {}), path('b', rest)), 'b');
  assert.equal(await reasonsOf('/{a}/{b}', path('a', {}), path('b', { 'x-multi-segment': true })), 'b');
  assert.equal(await reasonsOf('/{a}...{b}', path('a', {}), path('b', { 'x-multi-segment': true })), undefined);
  assert.deepEqual(await reasonsOf('/{a}...{b}', path('a', {}), path('b', rest)), [
    'x-gateway-path: "rest" is not possible at the parameter "b".',
  ]);
  assert.deepEqual(await reasonsOf('/a', { name: 'q', in: 'query', schema: {}, ...rest }), [
    'x-gateway-path: "rest" is not possible at the parameter "q".',
  ]);
  assert.deepEqual(await reasonsOf('/{a}', path('a', { 'x-gateway-path': 'all' })), [
    'x-gateway-path: "all" is not possible at the parameter "a".',
  ]);
  assert.deepEqual(await reasonsOf('/{a}/{b}', path('a', rest), path('b', rest)), [
    '"a" and "b" take slashes, so the end of the first one is not known.',
  ]);
});
