// The sandbox answers as the published contracts promise: every seeded record of every resource, and the filters and sorts that the two
// sides list.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { RESOURCES } from '../../sandbox/catalogue.ts';
import { sortsOf } from '../../sandbox/resource.ts';
import { platformForFile } from './support/platform.ts';

// biome-ignore lint/suspicious/noExplicitAny: contracts are documents of any shape
type Document = any;

const folder = new URL('../../openapi/v1/', import.meta.url);
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const documents = new Map<string, Document>();
for (const file of readdirSync(folder)) {
  const document = parse(readFileSync(new URL(file, folder), 'utf8'));
  documents.set(file, document);
  ajv.addSchema({ $id: `https://contracts.example.com/${file}`, components: document.components });
}

const platform = await platformForFile();
const call = await platform.as('org_one');
await call('POST', '/_sandbox/seed');

for (const { name, filters, ...resource } of Object.values(RESOURCES)) {
  const operation = documents.get(`${name}.yaml`)?.paths[`/v1/${name}`].get;

  test(`${name}: a page of a hundred matches the contract`, async () => {
    const { $ref } = operation.responses['200'].content['application/json'].schema;
    const validate = ajv.compile({ $ref: `https://contracts.example.com/${name}.yaml${$ref}` });
    const { body } = await call('GET', `/v1/${name}?limit=100`);
    assert.ok(body.data.length > 0);
    assert.equal(validate(body), true, ajv.errorsText(validate.errors));
  });

  test(`${name}: the contract lists the same filters and sorts`, () => {
    const own: Document[] = operation.parameters.filter((parameter: Document) => parameter.name !== undefined);
    const sort = own.find((parameter) => parameter.name === 'sort');
    const names = own.filter((parameter) => parameter !== sort).map((parameter) => parameter.name);
    assert.deepEqual(names.sort(), Object.keys(filters).sort());
    const sorts = Object.keys(sortsOf({ name, filters, ...resource })).flatMap((field) => [
      `${field}_asc`,
      `${field}_desc`,
    ]);
    assert.deepEqual(sort.schema.enum.toSorted(), sorts.sort());
  });
}
