// Several documents become one: different components of one name are renamed, and the gateway's own parts stay its own.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { type ContractSource, loadContracts } from '../../../gateway/contract/load.ts';
import { publishedContracts } from '../../../gateway/contract/merged/groups.ts';
import { createDirectReader } from '../../../gateway/contract/reading/document.ts';
import type { Mistake } from '../../../gateway/shared/mistakes.ts';
import { temporaryDirectory } from '../../support/directory.ts';

type Json = Record<string, unknown>;
interface Document {
  readonly openapi: string;
  readonly info: Json;
  readonly servers: Json[];
  readonly paths: Record<string, Record<string, Json & { parameters?: Json[] }>>;
  readonly components: Record<string, Record<string, Json>>;
}

const ok = { '200': { description: 'Done.' } };
const bodyOf = (name: string) => ({
  '200': {
    description: 'Done.',
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  },
});
const secured = { openapi: '3.1.0', info: { title: 'Any', version: '1' } };

describe('contracts that are published as one', () => {
  let directory: string;
  beforeEach(() => {
    directory = temporaryDirectory();
  });

  async function publish(contracts: Record<string, object>, says: Partial<ContractSource> = {}) {
    for (const [file, content] of Object.entries(contracts))
      writeFileSync(join(directory, file), JSON.stringify(content));
    const mistakes: Mistake[] = [];
    const source: ContractSource = {
      upstream: 'things',
      contracts: Object.keys(contracts),
      security: { apiKey: ['things:read'] },
      mistakeAtGlob: (_index, reason, remedy) => ({ file: 'upstreams.yaml', reason, remedy }),
      mistakeAtEntry: (reason, remedy) => ({ file: 'upstreams.yaml', reason, remedy }),
      ...says,
    };
    const { operations } = await loadContracts(
      {
        directory,
        sources: [source],
        known: { upstreams: ['things'], limits: [] },
        namedOperations: [],
        mistakeAtOperation: () => assert.fail(),
        reader: createDirectReader(),
      },
      mistakes,
    );
    assert.deepEqual(mistakes, []);
    const published = publishedContracts(operations, {
      serverOf: (upstream) => `https://${upstream}.example.com`,
      isDeprecated: () => false,
    });
    return new Map(
      await Promise.all(
        published.map(async (one) => [one.name, JSON.parse((await one.json()).toString()) as Document] as const),
      ),
    );
  }

  it('are called by their version, or by their upstream', async () => {
    const paths = {
      '/v1/a': { get: { responses: ok } },
      '/v2/a': { get: { responses: ok } },
      '/b': { get: { responses: ok } },
    };
    const documents = await publish({ 'a.json': { ...secured, paths } });
    assert.deepEqual([...documents.keys()], ['v1', 'v2', 'things']);
    assert.deepEqual(Object.keys(documents.get('v2')?.paths ?? {}), ['/v2/a']);
    assert.deepEqual(documents.get('v2')?.servers, [{ url: 'https://things.example.com' }]);
    assert.deepEqual(documents.get('v2')?.info, { title: 'Any', version: '1' });
  });

  it('share equal components; others get the name of their file, as does everything that refers to them', async () => {
    const contract = (path: string, type: string) => ({
      ...secured,
      paths: { [path]: { get: { responses: bodyOf('List') } } },
      components: {
        schemas: {
          List: { type: 'array', items: { $ref: '#/components/schemas/Item' } },
          Item: { type: 'object', properties: { id: { $ref: '#/components/schemas/Id' }, kind: { const: type } } },
          Id: { type: 'string' },
          Unused: { type: 'null' },
        },
      },
    });
    const one = (await publish({ 'a.json': contract('/v1/a', 'a'), 'b.json': contract('/v1/b', 'b') })).get('v1');
    assert.deepEqual(Object.keys(one?.components.schemas ?? {}).sort(), ['Id', 'Item', 'List', 'b_Item', 'b_List']);
    assert.deepEqual(one?.components.schemas?.b_List, {
      type: 'array',
      items: { $ref: '#/components/schemas/b_Item' },
    });
    assert.match(JSON.stringify(one?.paths['/v1/b']), /"#\/components\/schemas\/b_List"/);
    assert.match(JSON.stringify(one?.paths['/v1/a']), /"#\/components\/schemas\/List"/);
  });

  it('keep the declarations of a path for all its operations, and copy them to each where several documents are at one path', async () => {
    const shared = { name: 'trace', in: 'header', schema: { type: 'string' } };
    const limit = { name: 'limit', in: 'query', schema: { type: 'integer' } };
    const own = { ...limit, description: 'Own.' };
    const read = { parameters: [shared, limit], get: { parameters: [own], responses: ok } };
    const documents = await publish({
      'a.json': { ...secured, paths: { '/v1/a': read, '/v1/b': read } },
      'b.json': { ...secured, paths: { '/v1/a': { put: { responses: ok } } } },
    });
    const { paths } = documents.get('v1') as Document;
    assert.deepEqual(paths['/v1/b']?.parameters, [shared, limit]);
    assert.deepEqual(paths['/v1/b']?.get?.parameters, [own]);
    assert.equal(paths['/v1/a']?.parameters, undefined);
    assert.deepEqual(paths['/v1/a']?.get?.parameters, [shared, own]);
    assert.deepEqual(paths['/v1/a']?.put?.parameters, []);
  });

  it('are at the path, the address and the credentials of the gateway, even if their document declares others', async () => {
    const foreign = {
      openapi: '3.0.3',
      info: { title: 'Billing', version: '7' },
      servers: [{ url: 'https://internal.example.net/api' }],
      security: [{ theirs: [] }],
      paths: {
        '/bills': {
          servers: [{ url: 'https://other.example.net' }],
          get: {
            operationId: 'bills',
            description: 'All bills.',
            'x-gateway-cost': 2,
            servers: [{ url: 'https://third.example.net' }],
            responses: {
              '200': {
                description: 'Done.',
                content: {
                  'application/json': { schema: { type: 'string', nullable: true }, example: { 'x-gateway-cost': 1 } },
                },
              },
            },
          },
        },
        '/copies': {
          get: { responses: { '200': { $ref: '#/paths/~1bills/get/responses/200' } } },
        },
      },
      components: { securitySchemes: { theirs: { type: 'apiKey', in: 'query', name: 'key' } } },
    };
    const documents = await publish({ 'billing.json': foreign }, { basePath: '/v1' });
    const document = documents.get('v1') as Document;
    assert.equal(document.openapi, '3.1.1');
    assert.deepEqual(Object.keys(document.paths), ['/v1/bills', '/v1/copies']);
    assert.doesNotMatch(JSON.stringify(document), /example\.net|theirs|nullable/);
    const bills = document.paths['/v1/bills']?.get as Json;
    assert.equal(bills['x-gateway-cost'], undefined);
    assert.deepEqual(bills.security, [{ apiKey: [] }]);
    assert.deepEqual(bills['x-security-scopes'], [{ apiKey: ['things:read'] }]);
    assert.equal(bills.description, 'All bills.\n\nAn API key has to hold `things:read`.');
    assert.equal(document.components.securitySchemes?.apiKey?.scheme, 'bearer');
    // A part that another operation refers to in the middle of a path is written out.
    assert.deepEqual(document.paths['/v1/copies']?.get?.responses, bills.responses);
    assert.match(JSON.stringify(bills.responses), /"example":\{"x-gateway-cost":1\}/);
  });

  it('name a publisher on whom all agree', async () => {
    const contract = (path: string, info: object) => ({
      ...secured,
      info: { ...secured.info, ...info },
      paths: { [path]: { get: { responses: ok } } },
    });
    const contact = { email: 'help@example.com' };
    const documents = await publish({
      'a.json': contract('/v1/a', { contact, license: { name: 'A' } }),
      'b.json': contract('/v1/b', { contact, license: { name: 'B' } }),
      'c.json': contract('/v1/c', {}),
    });
    assert.deepEqual(documents.get('v1')?.info, {
      title: 'API v1',
      version: '1',
      description: 'Everything under `/v1`: Any, Any, Any.',
      contact,
    });
  });

  it('lead links to operations under their published names', async () => {
    const Self = { operationId: 'readA', parameters: { id: '$response.body#/id' } };
    const links = { Self, Other: { $ref: '#/components/links/Other' } };
    const contract = {
      ...secured,
      paths: {
        '/v1/a': { get: { operationId: 'readA', responses: { '200': { ...ok['200'], links } } } },
      },
      components: { links: { Other: Self } },
    };
    const documents = await publish({ 'a.json': contract }, { operationNames: 'qualified' });
    const { paths, components } = documents.get('v1') as Document;
    const published = { ...Self, operationId: 'things.readA' };
    assert.equal(paths['/v1/a']?.get?.operationId, 'things.readA');
    assert.deepEqual(paths['/v1/a']?.get?.responses, {
      '200': { ...ok['200'], links: { Self: published, Other: { $ref: '#/components/links/Other' } } },
    });
    assert.deepEqual(components.links, { Other: published });
  });

  it('survive schemas that hold themselves', async () => {
    const tree = {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } },
    };
    const contract = (path: string, extra: object) => ({
      ...secured,
      paths: { [path]: { get: { responses: bodyOf('Tree') } } },
      components: { schemas: { Tree: { ...tree, ...extra } } },
    });
    const documents = await publish({
      'a.json': contract('/v1/a', {}),
      'b.json': contract('/v1/b', { description: 'Other.' }),
    });
    const { schemas = {} } = (documents.get('v1') as Document).components;
    assert.match(JSON.stringify(schemas.b_Tree), /"#\/components\/schemas\/b_Tree"/);
    assert.match(JSON.stringify(schemas.Tree), /"#\/components\/schemas\/Tree"/);
  });

  for (const [license, published] of [
    [{ name: 'MIT' }, { name: 'MIT', identifier: 'MIT' }],
    [
      { name: 'Apache 2.0 (with care)' },
      { name: 'Apache 2.0 (with care)', identifier: 'LicenseRef-Apache-2.0-with-care' },
    ],
    [{ name: '許諾' }, { name: '許諾', identifier: 'LicenseRef-unnamed' }],
    [
      { name: 'MIT', url: 'https://x.test' },
      { name: 'MIT', url: 'https://x.test' },
    ],
    [
      { name: 'Own', identifier: 'LicenseRef-Own' },
      { name: 'Own', identifier: 'LicenseRef-Own' },
    ],
  ] as const)
    it(`give the licence ${JSON.stringify(license)} what generators need`, async () => {
      const paths = { '/a': { get: { operationId: 'a', responses: ok } } };
      const [document] = (
        await publish({ 'a.json': { ...secured, info: { ...secured.info, license }, paths } })
      ).values();
      assert.deepEqual(document?.info.license, published);
    });

  it('say null as a type, which generators of clients read', async () => {
    const schema = {
      oneOf: [{ $ref: '#/components/schemas/Null' }, { enum: ['a', null] }, { type: 'string', enum: [null] }],
    };
    const properties = { enum: { enum: [null], description: 'Nothing.' } };
    const responses = {
      '200': { description: 'Done.', content: { 'application/json': { schema: { ...schema, properties } } } },
    };
    const [document] = (
      await publish({
        'a.json': {
          ...secured,
          paths: { '/a': { get: { operationId: 'a', responses } } },
          components: { schemas: { Null: { enum: [null] } } },
        },
      })
    ).values();
    assert.deepEqual(document?.components.schemas?.Null, { type: 'null' });
    const published = JSON.stringify(document?.paths['/a']);
    assert.ok(published.includes(JSON.stringify(schema.oneOf)), published);
    assert.ok(published.includes('"properties":{"enum":{"type":"null","description":"Nothing."}}'), published);
  });
});
