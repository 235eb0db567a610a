import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredFor, essenceOf, isJson, mediaTypesOf } from '../../../gateway/contract/media-types.ts';

test('the type is read without parameters and case', () => {
  assert.equal(essenceOf('Application/JSON; charset=UTF-8'), 'application/json');
  assert.equal(essenceOf(undefined), '');
  assert.deepEqual(mediaTypesOf({ 'Text/CSV; header=present': {}, 'image/*': {} }), ['text/csv', 'image/*']);
  assert.deepEqual(mediaTypesOf(undefined), []);
});

test('the most precise declared type stands for another', () => {
  assert.equal(declaredFor('image/png', ['*/*', 'image/*', 'image/png']), 'image/png');
  assert.equal(declaredFor('image/gif', ['*/*', 'image/*', 'image/png']), 'image/*');
  assert.equal(declaredFor('text/plain', ['*/*', 'image/*']), '*/*');
  assert.equal(declaredFor('text/plain', ['image/*']), undefined);
  assert.equal(declaredFor('', ['*/*']), undefined);
});

test('JSON is JSON by name or suffix; sequences of JSON texts are not', () => {
  for (const type of ['application/json', 'text/json', 'application/problem+json', 'application/vnd.it.v2+json'])
    assert.ok(isJson(type), type);
  for (const type of ['application/jsonl', 'application/json-seq', 'application/x-ndjson', 'text/plain', '*/*'])
    assert.ok(!isJson(type), type);
});
