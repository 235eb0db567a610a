// Operations as tools: schemas that stand alone, arguments that become requests, and what cannot be said.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { toToolOperation } from '../../../gateway/contract/tools/tool-operation.ts';
import { compileDocument, documentOf } from './compiled.ts';

type Json = Record<string, unknown>;

async function toolOf(document: object, says?: object) {
  const { operations, mistakes } = await compileDocument(document, says);
  assert.deepEqual(mistakes, []);
  return toToolOperation(operations[0] ?? assert.fail('no operation'));
}

const ok = { 200: { description: 'fine' } };
const answering = (schema: object) => ({ 200: { description: 'fine', content: { 'application/json': { schema } } } });
const getWith = (parameters: object[], path = '/', rest: object = {}) =>
  documentOf({ [path]: { get: { operationId: 'it', parameters, responses: ok } } }, rest);
const given = (values: Json) => ({ values, textOf: (name: string) => JSON.stringify(values[name]) });

describe('the schema of a tool', () => {
  it('is one object: parameters by name, the body, nothing else', async () => {
    const parameters = [
      { name: 'id', in: 'path', required: true, schema: { type: 'string' }, description: 'Which one.' },
      { name: 'id', in: 'query', schema: { type: 'integer' } },
      { name: 'page[size]', in: 'query', schema: { type: 'integer' } },
      { name: 'If-Match', in: 'header', schema: { type: 'string' } },
      { name: 'X-Forwarded-For', in: 'header', schema: { type: 'string' } },
      { name: 'Content-Length', in: 'header', schema: { type: 'string' } },
    ];
    const body = { required: true, content: { 'application/json': { schema: { type: 'object' } } } };
    const document = documentOf({
      '/{id}': { put: { operationId: 'it', parameters, requestBody: body, responses: ok } },
    });
    const { input } = (await toolOf(document)).schemas();
    assert.deepEqual(Object.keys(input.properties as Json), ['id', 'id_query', 'page_size', 'If-Match', 'body']);
    assert.deepEqual([input.required, input.additionalProperties], [['id', 'body'], false]);
    assert.deepEqual((input.properties as Json).id, { type: 'string', description: 'Which one.' });
  });

  it('keeps recursion, nullable members and the forms of Swagger 2', async () => {
    const node = {
      type: 'object',
      properties: { next: { $ref: '#/components/schemas/Node' }, note: { type: 'string', nullable: true } },
    };
    const v30 = {
      ...documentOf({
        '/': {
          post: {
            operationId: 'it',
            requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } } },
            responses: ok,
          },
        },
      }),
      openapi: '3.0.3',
      components: { schemas: { Node: node } },
    };
    const { input, losses } = (await toolOf(v30)).schemas();
    assert.deepEqual(losses, []);
    const validate = new Ajv2020({ strict: false }).compile(input);
    assert.ok(validate({ body: { next: { next: { note: null } } } }));
    assert.ok(!validate({ body: { next: { next: { note: 7 } } } }));
    const swagger = {
      swagger: '2.0',
      info: { title: 'It', version: '1' },
      paths: {
        '/': {
          post: {
            operationId: 'it',
            consumes: ['application/x-www-form-urlencoded'],
            parameters: [{ name: 'title', in: 'formData', type: 'string', required: true }],
            responses: { 200: { description: 'fine' } },
          },
        },
      },
    };
    const tool = await toolOf(swagger);
    assert.ok(new Ajv2020({ strict: false }).compile(tool.schemas().input)({ body: { title: 'a' } }));
    assert.equal(tool.write(given({ body: { title: 'a b' } })).body?.toString(), 'title=a%20b');
  });

  it('names what it cannot say, and survives hostile documents', async () => {
    const schema = {
      type: 'object',
      properties: { a: { $dynamicRef: '#x' }, __proto__x: { type: 'string', description: 'd'.repeat(1_000_000) } },
    };
    const { input, output, losses } = (
      await toolOf(documentOf({ '/': { get: { operationId: 'it', responses: answering(schema) } } }))
    ).schemas();
    assert.deepEqual(losses, ['of the answer: $dynamicRef, which allows anything here']);
    assert.ok(JSON.stringify(input).length + JSON.stringify(output).length < 2000);
    const names = ['constructor', '__proto__', 'toString'];
    const parameters = names.map((name) => ({ name, in: 'query', schema: { type: 'string' } }));
    const tool = await toolOf(getWith(parameters));
    assert.deepEqual(Object.keys(tool.schemas().input.properties as Json), names);
    const values = JSON.parse('{"__proto__":"a","constructor":"b"}');
    assert.equal(tool.write(given(values)).target, '/?constructor=b&__proto__=a');
  });

  it('of answers leaves out bounds unless the gateway holds answers to them', async () => {
    const schema = { type: 'object', required: ['id'], properties: { id: { type: 'string', pattern: '^a' } } };
    const document = documentOf({ '/': { get: { operationId: 'it', responses: answering(schema) } } });
    const loose = (await toolOf(document)).schemas().output;
    assert.deepEqual(loose?.properties, { id: { type: 'string' } });
    assert.equal(loose?.required, undefined);
    const strict = (await toolOf(document, { public: true, response: 'refuse' })).schemas().output;
    assert.deepEqual([strict?.required, strict?.properties], [['id'], { id: { type: 'string', pattern: '^a' } }]);
  });

  it('of a list is an object with the list as its result', async () => {
    const document = documentOf({
      '/': { get: { operationId: 'it', responses: answering({ type: 'array', items: { type: 'string' } }) } },
    });
    const { output } = (await toolOf(document)).schemas();
    assert.deepEqual(output?.properties, { result: { type: 'array', items: { type: 'string' } } });
  });

  it('compiles for the operations of the shipped contract', async () => {
    const text = readFileSync(new URL('../../../openapi/published/v1.json', import.meta.url), 'utf8');
    const { operations } = await compileDocument(JSON.parse(text) as object, {});
    assert.ok(operations.length > 40);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const [index, entry] of operations.entries()) {
      const { input, output, losses } = toToolOperation(entry).schemas();
      assert.deepEqual(losses, []);
      // Compiling takes long: one of each kind is enough.
      if (index % 7 === 0) for (const schema of [input, output]) if (schema !== undefined) ajv.compile({ ...schema });
    }
  });
});

describe('the obstacle of a tool', () => {
  const obstacle = async (operation: object) =>
    (await toolOf(documentOf({ '/': { post: { operationId: 'it', responses: ok, ...operation } } }))).obstacle;

  it('is an answer or a body that no model reads or writes', async () => {
    const of = (type: string) => ({ content: { [type]: {} } });
    assert.equal(
      await obstacle({ responses: { 200: { description: 'x', ...of('image/png') } } }),
      'its answer is image/png, which is no text',
    );
    assert.equal(
      await obstacle({ responses: { 200: { description: 'x', ...of('text/event-stream') } } }),
      'its answer is a stream',
    );
    assert.match(
      (await obstacle({ requestBody: { required: true, ...of('multipart/form-data') } })) ?? '',
      /multipart/,
    );
    assert.equal(await obstacle({ requestBody: of('multipart/form-data') }), undefined);
    assert.equal(await obstacle({}), undefined);
  });
});

describe('the arguments of a tool', () => {
  const written = async (parameter: object, value: unknown, path = '/') => {
    const tool = await toolOf(getWith([{ name: 'a', in: 'query', ...parameter }], path));
    const { target, headers, violations } = tool.write(given({ a: value }));
    return violations.length > 0
      ? violations.map(({ code }) => code).join()
      : `${target}${headers.map((one) => one.join(': ')).join()}`;
  };
  const array = { schema: { type: 'array', items: { type: 'string' } } };
  const object = { schema: { type: 'object', additionalProperties: { type: 'string' } } };

  it('are written in the style of their parameter', async () => {
    assert.equal(await written({ schema: {} }, 'x y&z'), '/?a=x%20y%26z');
    assert.equal(await written(array, ['x', 'y']), '/?a=x&a=y');
    assert.equal(await written({ ...array, explode: false }, ['x', 'y']), '/?a=x%2Cy');
    assert.equal(await written({ ...array, style: 'pipeDelimited', explode: false }, ['x', 'y']), '/?a=x%7Cy');
    assert.equal(await written({ ...object, style: 'deepObject' }, { b: 'c', d: { e: 1 } }), '/?a[b]=c&a[d][e]=1');
    assert.equal(await written({ ...object }, { b: 'c' }), '/?b=c');
    assert.equal(await written({ content: { 'application/json': {} } }, { b: 1 }), '/?a=%7B%22b%22%3A1%7D');
    const inPath = { in: 'path', required: true };
    assert.equal(await written({ ...inPath, ...array }, ['x/y', 'z'], '/{a}'), '/x%2Fy,z');
    assert.equal(
      await written({ ...inPath, ...array, style: 'matrix', explode: true }, ['x', 'y'], '/{a}'),
      '/;a=x;a=y',
    );
    assert.equal(await written({ ...inPath, ...array, style: 'label' }, ['x', 'y'], '/{a}'), '/.x,y');
    assert.equal(await written({ in: 'header', ...array }, ['x', 'y']), '/a: x,y');
    assert.equal(await written({ in: 'cookie', schema: {} }, 'x'), '/cookie: a=x');
  });

  it('are refused if no text says the same', async () => {
    assert.equal(await written({ schema: {} }, null), 'wrong_type');
    assert.equal(await written({ schema: {} }, 2 ** 53), 'wrong_type');
    assert.equal(await written({ schema: {} }, [['x']]), 'wrong_type');
    assert.equal(await written({ ...array, explode: false }, ['x,y']), 'wrong_format');
    assert.equal(await written({ ...object, style: 'deepObject' }, { 'b]': 1 }), 'wrong_format');
    assert.equal(await written({ in: 'path', required: true, schema: {} }, '', '/{a}'), 'too_short');
    assert.equal(await written({ in: 'header', schema: {} }, 'x\r\nHost: evil'), 'wrong_format');
    assert.equal(await written({ in: 'cookie', schema: {} }, 'x; admin=1'), 'wrong_format');
    let deep: unknown = 1;
    for (let level = 0; level < 100; level += 1) deep = { deep };
    assert.equal(await written({ ...object, style: 'deepObject' }, deep), 'wrong_type');
  });

  it('that the operation does not have are refused', async () => {
    const tool = await toolOf(getWith([]));
    assert.deepEqual(tool.write(given({ other: 1 })).violations, [
      { in: 'body', param: 'other', pointer: '/other', code: 'unknown', message: 'Is not known here.' },
    ]);
  });
});
