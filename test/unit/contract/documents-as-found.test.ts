// Documents from other tools: faults without effect are accepted or warned of, faults with an effect stay mistakes.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createDirectReader } from '../../../gateway/contract/reading/document.ts';
import { type Mistake, toSentence } from '../../../gateway/shared/mistakes.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { bodyCheck, documentOf } from './compiled.ts';

const directory = temporaryDirectory();
const reader = createDirectReader();

const responses = { 200: { description: 'fine' } };
const withSchema = (schema: unknown, rest: object = {}) =>
  documentOf({ '/a': { post: { requestBody: { content: { 'application/json': { schema } } }, responses } } }, rest);

/** Reads a document, and returns its mistakes and warnings without the directory. */
async function read(document: object): Promise<{ mistakes: string[]; warnings: string[] }> {
  const file = join(directory, 'it.json');
  writeFileSync(file, JSON.stringify(document, null, 1));
  const mistakes: Mistake[] = [];
  const content = await reader.readContract(file, mistakes);
  const told = (all: readonly Mistake[]) => all.map((one) => toSentence(one).replace(/^.*it\.json:\d+:\d+: /, ''));
  return { mistakes: told(mistakes), warnings: told(content?.warnings ?? []) };
}

const nothing = { mistakes: [], warnings: [] };

it('a path without its slash is a mistake, because no request has it; any other stray member is a warning', async () => {
  const { mistakes } = await read(documentOf({ '/a': { get: { responses } }, parcels: { get: { responses } } }));
  assert.deepEqual(mistakes, [
    'paths.parcels: Property `parcels` is not expected here. Paths begin with a slash. Did you mean "/parcels"?',
  ]);
  const stray = await read(documentOf({ '/a': { get: { responses } }, note: 'none' }));
  assert.deepEqual([stray.mistakes, stray.warnings.length], [[], 1]);
});

it('parameters of paths as routers write them are warned of, and a verb behind a colon is none', async () => {
  const item = { get: { responses } };
  const { mistakes, warnings } = await read(documentOf({ '/a/:id': item, '/b/<int:id>/c': item, '/d/e:verb': item }));
  assert.deepEqual(mistakes, []);
  assert.deepEqual(
    warnings.map((warning) => /Did you mean (.*)$/.exec(warning)?.[1]),
    ['"/a/{id}"?', '"/b/{id}/c"?'],
  );
});

it('a parameter that is declared twice in the same way is warned of', async () => {
  const limit = { name: 'limit', in: 'query', schema: { type: 'integer' } };
  const { mistakes, warnings } = await read(documentOf({ '/a': { get: { parameters: [limit, limit], responses } } }));
  assert.deepEqual([mistakes, warnings.length], [[], 1]);
});

describe('vendor extensions', () => {
  const extended = documentOf(
    { '/a': { get: { 'x-code-samples': 'none', 'x-codeSamples': { lang: 3 }, responses }, 'x-tags': 1 } },
    {
      info: { title: 'It', version: '1', 'x-logo': 'https://example.com/logo.png' },
      'x-webhooks': { a: { post: { $ref: '#/nowhere' } } },
      'x-tagGroups': 'all',
      'x-any': { schema: { pattern: '(' }, $ref: 'https://example.com/else.json' },
    },
  );

  it('may hold anything', async () => {
    assert.deepEqual(await read(extended), nothing);
  });

  it('of the gateway itself are checked, in a vendor extension too', async () => {
    const { mistakes } = await read({ ...extended, 'x-any': { 'x-gateway-cost': 2 } });
    assert.match(mistakes.join(), /x-any\.x-gateway-cost: x-gateway-cost has no meaning here/);
  });
});

describe('unknown members', () => {
  it('of a schema are accepted from OpenAPI 3.1 on, and warned of before', async () => {
    const schema = { type: 'object', id: 'x', note: 'y', definitions: { a: { order: 1 } } };
    assert.deepEqual(await read(withSchema(schema)), nothing);
    const { mistakes, warnings } = await read({ ...withSchema(schema), openapi: '3.0.3' });
    assert.deepEqual(mistakes, []);
    assert.equal(warnings.length, 3);
  });

  it('elsewhere are warned of', async () => {
    const { mistakes, warnings } = await read(
      documentOf({ '/a': { get: { consumes: [], responses: { 200: { description: 'fine', schema: {} } } } } }),
    );
    assert.deepEqual(mistakes, []);
    assert.equal(warnings.length, 2);
  });

  it('that misspell a keyword with an effect are mistakes, and those that misspell a text are not', async () => {
    const wrong = await read(withSchema({ type: 'object', requierd: ['a'] }));
    assert.match(wrong.mistakes.join(), /requierd.*Did you mean "required"/);
    assert.deepEqual(await read(withSchema({ type: 'object', descrciption: 'a' })), {
      mistakes: [],
      warnings: [],
    });
  });
});

describe('a fault without effect', () => {
  it('is warned of when it is wrong or missing', async () => {
    const { mistakes, warnings } = await read(
      documentOf(
        { '/a': { get: { tags: 'all', externalDocs: {}, responses: { 200: { links: { a: 1 } } } } } },
        { info: { contact: 'me' } },
      ),
    );
    assert.deepEqual(mistakes, []);
    assert.ok(warnings.some((warning) => warning.includes('description is missing')));
    assert.ok(warnings.some((warning) => warning.includes('title is missing')));
  });

  it('is no excuse for a fault with one', async () => {
    const { mistakes } = await read(withSchema({ type: 'objet' }));
    assert.match(mistakes.join(), /Write type: object/);
  });
});

describe('a discriminator mapping', () => {
  const animals = (mapping: object) =>
    withSchema(
      {
        oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/pets.Dog/v1' }],
        discriminator: { propertyName: 'kind', mapping },
      },
      { components: { schemas: { Cat: { type: 'object' }, 'pets.Dog': { v1: { type: 'object' } }, 'a.json': {} } } },
    );

  it('may give the names of schemas', async () => {
    const { mistakes } = await read(animals({ cat: 'Cat', other: 'a.json' }));
    assert.deepEqual(mistakes, []);
  });

  it('that leads nowhere is warned of', async () => {
    const { mistakes, warnings } = await read(animals({ cat: './models/cat.yml' }));
    assert.deepEqual(mistakes, []);
    assert.match(warnings.join(), /mapping\.cat/);
  });
});

describe('boolean schemas of OpenAPI 3.1', () => {
  it('work in lists, by name and as a whole', async () => {
    const components = { schemas: { Any: true, None: false } };
    const check = await bodyCheck(
      {
        type: 'object',
        properties: {
          pair: { type: 'array', prefixItems: [true, { type: 'integer' }], items: false },
          any: { $ref: '#/components/schemas/Any' },
          none: { $ref: '#/components/schemas/None' },
        },
      },
      { components },
    );
    assert.deepEqual(check({ pair: ['x', 1], any: {} }), []);
    const codes = (value: unknown) => check(value).map(({ param }) => param);
    assert.deepEqual(codes({ pair: [1, 'x'] }), ['pair[1]']);
    assert.deepEqual(codes({ pair: [1, 2, 3] }), ['pair']);
    assert.deepEqual(codes({ none: 1 }), ['none']);
  });

  it('are a mistake in OpenAPI 3.0, which has none', async () => {
    const { mistakes } = await read({ ...withSchema({ items: true, type: 'array' }), openapi: '3.0.3' });
    assert.match(mistakes.join(), /OpenAPI 3\.0 has no schema true\. Write {}\./);
  });
});
