// Schemas for which no value is valid, and values that their own schema refuses, are warnings of check and lint, with place and remedy.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { environmentOf } from '../support/configuration.ts';
import { runInProcess } from '../support/in-process.ts';
import { sound, writeSound } from './faults.ts';

/** Returns the lines of a command about items.yaml, without its name. */
async function linesAbout(contract: string, ...words: string[]): Promise<string[]> {
  const directory = writeSound({ 'openapi/items.yaml': contract });
  const environment = { ...environmentOf(directory), GATEWAY_DATA: join(directory, 'data') };
  const { code, stdout, stderr } = await runInProcess(words, { environment });
  rmSync(directory, { recursive: true });
  assert.equal(code, 0, stderr);
  const begin = `openapi/items.yaml:`;
  const shown = stdout.replaceAll(`${relative(process.cwd(), directory)}/`, '').replaceAll(`${directory}/`, '');
  return shown.split('\n').flatMap((line) => (line.includes(begin) ? [line.split(begin)[1] as string] : []));
}

const withProperties = (...properties: string[]) =>
  sound['openapi/items.yaml'].replace(
    '        name: {',
    `${properties.map((property) => `        ${property}\n`).join('')}        name: {`,
  );
const at = 'components.schemas.Item';

async function assertWarnings(contract: string, expected: readonly string[]): Promise<void> {
  assert.deepEqual((await linesAbout(contract, 'check')).sort(), expected);
  const linted = await linesAbout(contract, 'contract', 'lint');
  for (const warning of expected) assert.ok(linted.includes(warning), `${warning}\n${linted.join('\n')}`);
}

test('bounds that leave nothing between them', async () => {
  const contract = withProperties(
    'size: { type: integer, minimum: 10, maximum: 5 }',
    'code: { type: string, minLength: 3, maxLength: 2 }',
    'tags: { type: array, items: { type: string }, minItems: 2, maxItems: 1 }',
    'more: { type: object, minProperties: 2, maxProperties: 1 }',
    'open: { type: number, exclusiveMinimum: 5, maximum: 5 }',
    'same: { type: integer, minimum: 5, maximum: 5 }',
  );
  const line = (place: string, keyword: string, low: number, high: string, remedy: string) =>
    `${place}.${keyword}: ${keyword} ${low} ${keyword.startsWith('exclusive') ? 'is not below' : 'is above'} ${high}, so no value is valid. Correct ${remedy}.`;
  await assertWarnings(contract, [
    line(`24:41: ${at}.properties.size`, 'minimum', 10, 'maximum 5', 'minimum or maximum'),
    line(`25:42: ${at}.properties.code`, 'minLength', 3, 'maxLength 2', 'minLength or maxLength'),
    line(`26:65: ${at}.properties.tags`, 'minItems', 2, 'maxItems 1', 'minItems or maxItems'),
    line(`27:46: ${at}.properties.more`, 'minProperties', 2, 'maxProperties 1', 'minProperties or maxProperties'),
    line(`28:49: ${at}.properties.open`, 'exclusiveMinimum', 5, 'maximum 5', 'exclusiveMinimum or maximum'),
  ]);
});

test('keywords without an effect, and values that are never valid', async () => {
  const contract = withProperties(
    'a: { type: integer, multipleOf: 0 }',
    'b: { type: integer, pattern: "^1$" }',
    'c: { type: string, properties: { x: { type: string } } }',
    'd: { type: integer, format: int23 }',
    'e: { type: integer, format: uuid }',
    'f: { type: string, enum: [a, a] }',
    'g: { type: integer, const: "1" }',
    'h: { oneOf: [{ type: string }, { type: string }] }',
    'i: { anyOf: [] }',
    'j: { type: object, required: [nmae], properties: { name: {} } }',
    'k: { then: { type: string } }',
    'l: { type: integer, format: uint16 }',
    'm: { type: [string, "null"], minLength: 1, enum: [x, null] }',
  );
  await assertWarnings(contract, [
    `24:41: ${at}.properties.a.multipleOf: no number is a multiple of 0, so no value is valid. Write a number above 0, or remove it.`,
    `25:29: ${at}.properties.b.pattern: pattern has no effect on values of type integer. Remove it, or correct what is beside it.`,
    `26:28: ${at}.properties.c.properties: properties has no effect on values of type string. Did you mean "type: object"?`,
    `27:37: ${at}.properties.d.format: the format "int23" is not known, so it is not checked. Did you mean "int32"?`,
    `28:37: ${at}.properties.e.format: the format "uuid" has no effect on values of type integer. Write type: string, or remove it.`,
    `29:38: ${at}.properties.f.enum.1: the value "a" is there twice. List each value once, or remove enum.`,
    `30:36: ${at}.properties.g.const: the value "1" is never valid, because type is integer. Write it without quotes: 1.`,
    `31:40: ${at}.properties.h.oneOf.1: two schemas of oneOf are the same, and a value that fits both is not valid. Remove one of them, or write anyOf.`,
    `32:14: ${at}.properties.i.anyOf: anyOf has no schema, so no value is valid. List the schemas, or remove it.`,
    `33:28: ${at}.properties.j.required: "nmae" is required, and no property has this name. Did you mean "name"?`,
    `34:14: ${at}.properties.k.then: then has no effect without if. Remove it, or correct what is beside it.`,
  ]);
});

test('keywords that no value meets together', async () => {
  const contract = withProperties(
    'a: { type: string, pattern: "^x", enum: [a, b] }',
    'b: { type: string, minLength: 3, enum: [a, b] }',
    'c: { const: z, enum: [a, b] }',
    'd: { allOf: [{ type: integer }, { type: string }] }',
    'e: { allOf: [{ type: integer, minimum: 10 }, { type: integer, maximum: 5 }] }',
    'f: { allOf: [{ enum: [a] }, { enum: [b] }] }',
    'g: { type: integer, multipleOf: 5, minimum: 1, maximum: 4 }',
    'h: { type: string, pattern: "^[A-Z]{3}[0-9]{2}$", maxLength: 4 }',
    'i: { type: string, pattern: "^[A-Z]?$", minLength: 2 }',
    'j: { type: integer, minimum: 1.2, maximum: 1.8 }',
    'k: { type: string, maxLength: 1, allOf: [{ type: string, minLength: 2 }] }',
    // In these, some value is valid.
    'l: { type: number, multipleOf: 0.1, minimum: 0.3, maximum: 0.3 }',
    'm: { type: [string, "null"], pattern: "^x", enum: [a, null] }',
    'n: { multipleOf: 5, minimum: 1, maximum: 4 }',
    'o: { type: string, pattern: "^(a|bcd)+$", minLength: 3, maxLength: 3 }',
    'p: { allOf: [{ type: number, minimum: 1 }, { type: integer, maximum: 1 }] }',
    'q: { allOf: [{ $ref: "#/components/schemas/Item/properties/e" }] }',
    'r: { type: string, pattern: "a", maxLength: 1, enum: [a, b] }',
  );
  const none = 'so no value is valid. Correct';
  await assertWarnings(contract, [
    `24:43: ${at}.properties.a.enum: no value of enum fits pattern, ${none} enum or pattern.`,
    `25:42: ${at}.properties.b.enum: no value of enum fits minLength, ${none} enum or minLength.`,
    `26:21: ${at}.properties.c.const: no value of const fits enum, ${none} const or enum.`,
    `27:14: ${at}.properties.d.allOf: the parts of allOf have the types integer and string, so no value is valid. Give them one type, or write anyOf.`,
    `28:14: ${at}.properties.e.allOf: minimum 10 in one part is above maximum 5 in another, ${none} minimum or maximum.`,
    `29:14: ${at}.properties.f.allOf: of the parts of allOf, no value is in all their lists, ${none} enum.`,
    `30:41: ${at}.properties.g.multipleOf: no multiple of 5 is between minimum 1 and maximum 4, ${none} multipleOf or the bounds.`,
    `31:37: ${at}.properties.h.pattern: a text that fits pattern has at least 5 characters, and maxLength is 4, ${none} pattern or maxLength.`,
    `32:37: ${at}.properties.i.pattern: a text that fits pattern has at most 1 character, and minLength is 2, ${none} pattern or minLength.`,
    `33:38: ${at}.properties.j.minimum: no integer is between minimum 1.2 and maximum 1.8, ${none} minimum or the bounds.`,
    `34:42: ${at}.properties.k.allOf: minLength 2 in one part is above maxLength 1 in another, ${none} minLength or maxLength.`,
  ]);
});

test('a part of allOf that forbids what another part declares', async () => {
  const contract = withProperties(
    'pair: { allOf: [{ $ref: "#/components/schemas/Item" }, { properties: { a: {} }, additionalProperties: false }] }',
    'same: { allOf: [{ properties: { a: {} } }, { properties: { a: {}, b: {} }, additionalProperties: false }] }',
    'self: { allOf: [{ properties: { a: {} } }], properties: { b: {} }, additionalProperties: false }',
  );
  const remedy = 'Leave it out, or write unevaluatedProperties: false beside allOf (OpenAPI 3.1).';
  const forbids = (names: string) =>
    `additionalProperties: false here forbids what other parts of allOf declare: ${names}. ${remedy}`;
  await assertWarnings(contract, [
    `24:64: ${at}.properties.pair.allOf.1: ${forbids('pair, same, self, name')}`,
    `26:98: ${at}.properties.self.additionalProperties: ${forbids('a')}`,
  ]);
});

test('a format that is nearly right is named with its place, and one of others is not', async () => {
  const contract = withProperties('at: { type: string, format: datetime }', 'colour: { type: string, format: colour }');
  await assertWarnings(contract, [
    `24:37: ${at}.properties.at.format: the format "datetime" is not known, so it is not checked. Did you mean "date-time"?`,
  ]);
});

test('bounds of another type have no effect', async () => {
  const contract = withProperties('code: { type: string, maximum: 3 }', 'size: { type: integer, minLength: 3 }');
  await assertWarnings(contract, [
    `24:31: ${at}.properties.code.maximum: maximum has no effect on values of type string. Did you mean "maxLength"?`,
    `25:32: ${at}.properties.size.minLength: minLength has no effect on values of type integer. Did you mean "minimum"?`,
  ]);
});

test('a required member that additionalProperties: false forbids', async () => {
  const contract = sound['openapi/items.yaml'].replace(
    '      properties:\n',
    '      required: [nmae, other, x-one]\n      additionalProperties: false\n      patternProperties: { "^x-": true }\n      properties:\n',
  );
  await assertWarnings(contract, [
    `23:7: ${at}.required: "nmae" is required, and additionalProperties: false forbids it, so no object is valid. Did you mean "name"?`,
    `23:7: ${at}.required: "other" is required, and additionalProperties: false forbids it, so no object is valid. Declare it under properties, or do not require it.`,
  ]);
});

test('values of an enum, defaults and examples that do not fit', async () => {
  const contract = withProperties(
    'kind: { type: string, enum: [big, 3], default: small }',
    'page: { type: integer, maximum: 100, default: 500, example: many }',
    'none: { type: string, default: null }',
    'fine: { type: string, default: a, examples: [b] }',
  ).replace(
    '            schema: { $ref: "#/components/schemas/Item" }',
    '            schema: { $ref: "#/components/schemas/Item" }\n            examples: { one: { value: { name: A, page: 101 } }, text: { value: \'{"name": "a"}\' } }',
  );
  const correct = (kind: string) => `Correct the ${kind} or the schema.`;
  const unfit = (kind: string) => `the ${kind} does not fit its schema.`;
  await assertWarnings(contract, [
    `16:25: paths./v1/items.post.requestBody.content.application/json.examples.one: ${unfit('example')} page: Must be at most 100. name: Must match the pattern ^[a-z]+$. ${correct('example')}`,
    `25:43: ${at}.properties.kind.enum.1: the value 3 is never valid, because type is string. Write it in quotes: "3".`,
    `25:56: ${at}.properties.kind.default: ${unfit('default')} Must be one of "big", 3. ${correct('default')}`,
    `26:55: ${at}.properties.page.default: ${unfit('default')} Must be at most 100. ${correct('default')}`,
    `26:69: ${at}.properties.page.example: ${unfit('example')} Must be an integer. ${correct('example')}`,
  ]);
  // What a check finds about a contract is kept only if nothing is wrong.
  assert.equal((await linesAbout(contract, 'check')).length, 5);
});

test('a body of JSON without a schema', async () => {
  const contract = sound['openapi/items.yaml'].replace(
    '          application/json:\n            schema: { $ref: "#/components/schemas/Item" }\n',
    '          application/json: {}\n',
  );
  await assertWarnings(contract, [
    '14:11: paths./v1/items.post.requestBody.content.application/json: the body has no schema, so any JSON passes. Add its schema, or "schema: {}" if any JSON is meant.',
  ]);
});
