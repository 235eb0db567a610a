// What the documentation says to clients of a contract that is not one of the shipped ones: how to make a client of it, what its errors
// mean, how an agent reads it, and how a file is sent.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { VIOLATION_CODES } from '../../../gateway/shared/contracts/violation-codes.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const pets = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        tags: ['pets'],
        description: 'A wrong cursor is refused with `invalid_cursor`, and `colour` is a field.',
        responses: { 200: { description: 'Done.', ...json({ type: 'array', items: { type: 'string' } }) } },
      },
    },
    '/pets/{id}/picture': {
      put: {
        operationId: 'putPicture',
        tags: ['pets'],
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        requestBody: {
          required: true,
          content: { 'image/png': { schema: { type: 'string', format: 'binary' } } },
        },
        responses: { 204: { description: 'Done.' } },
      },
      post: {
        operationId: 'addPedigree',
        tags: ['pets'],
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        requestBody: {
          required: true,
          content: { 'application/pdf': { schema: { type: 'string', format: 'binary' } } },
        },
        responses: { 204: { description: 'Done.' } },
      },
    },
  },
};

describe('the documentation of an own contract', () => {
  let gateway: TestGateway;
  const read = async (path: string) => (await fetch(`${gateway.url}${path}`)).text();
  before(async () => {
    gateway = await startGateway({
      contracts: { 'pets.json': pets },
      upstreams: {
        pets: {
          contracts: ['pets.json'],
          live: 'http://127.0.0.1:9',
          test: 'examples:',
          security: { apiKey: ['pets:read'] },
        },
      },
      gateway: { portal: { title: 'Pets' } },
    });
  });
  after(() => gateway?.stop());

  it('says how to make a client of it, with its own names and nothing of others', async () => {
    const guide = await read('/docs/guides/sdks.md');
    for (const text of ['openapi-ts -i', '/openapi/pets.json', 'await listPets();', 'api.PetsApi(client).list_pets()'])
      assert.ok(guide.includes(text), text);
    assert.doesNotMatch(guide, /customer|\{\{|download_file/i);
  });

  it('leads from an error code in a text to its page, and from no other name', async () => {
    const page = await read('/docs/reference/pets/listPets');
    assert.ok(page.includes('<a href="/docs/errors/invalid_cursor"><code>invalid_cursor</code></a>'));
    assert.ok(page.includes('and <code>colour</code> is'));
    assert.doesNotMatch(await read('/docs/guides/errors'), /<a [^>]*>(?:(?!<\/a>)[\s\S])*<a /);
  });

  it('has a place for each code of a violation', async () => {
    const page = await read('/docs/errors/validation_failed');
    const markdown = await read('/docs/errors/validation_failed.md');
    for (const code of Object.keys(VIOLATION_CODES)) {
      assert.ok(page.includes(`id="${code}"`), code);
      assert.ok(markdown.includes(`- \`${code}\`: `), code);
    }
    assert.doesNotMatch(await read('/docs/errors/malformed_json'), /id="too_large"/);
  });

  it('tells agents what to read, without tools, at both addresses', async () => {
    const page = await read('/docs/agents.md');
    assert.match(page, /Read \S+\/llms\.txt first\./);
    assert.match(page, /curl \S+\/docs\/reference\/pets\/listPets\.md/);
    assert.match(page, /has no endpoint for tools/);
    assert.equal(await read('/docs/llms.txt'), await read('/llms.txt'));
  });

  it('offers a file for a body of bytes, unfolded, and no code of records for it', async () => {
    const page = await read('/docs/reference/pets/putPicture');
    assert.match(page, /<details class="values" open>[\s\S]*<input id="try-file" type="file"/);
    assert.match(page, /<span class="type">bytes<\/span>|>bytes</);
    assert.doesNotMatch(page, /reference_missing|invalid_transition/);
    assert.match(await read('/docs/reference/pets/listPets'), /<form class="try/);
    assert.doesNotMatch(await read('/docs/reference/pets/listPets'), /<details class="values" open>/);
  });

  it('offers a file where the sample sends one, whatever its media type', async () => {
    const page = await read('/docs/reference/pets/addPedigree');
    assert.match(page, /<input id="try-file" type="file" data-type="application\/pdf">/);
    assert.match(page, /-T path\/to\/file/);
    assert.doesNotMatch(page, /<textarea/);
  });

  it('does not show the tier of an administrator whom no operation knows', async () => {
    assert.doesNotMatch(await read('/docs/limits'), /mail-administrator/);
  });
});
