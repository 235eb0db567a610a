import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredFor, essenceOf, isJson, mediaTypeOf, mediaTypesOf } from '../../../gateway/contract/media-types.ts';

test('the type is read without parameters and case', () => {
  assert.equal(essenceOf('Application/JSON; charset=UTF-8'), 'application/json');
  assert.equal(essenceOf(undefined), '');
  assert.deepEqual(mediaTypesOf({ 'Text/CSV; header=present': {}, 'image/*': {} }), [
    'text/csv;header=present',
    'image/*',
  ]);
  assert.equal(mediaTypeOf('Application/JSON; Charset=utf-8 ; b="2";A=1;'), 'application/json;a=1;b=2');
  assert.deepEqual(mediaTypesOf(undefined), []);
});

test('the most precise declared type stands for another', () => {
  assert.equal(declaredFor('image/png', ['*/*', 'image/*', 'image/png']), 'image/png');
  assert.equal(declaredFor('image/gif', ['*/*', 'image/*', 'image/png']), 'image/*');
  assert.equal(declaredFor('text/plain', ['*/*', 'image/*']), '*/*');
  assert.equal(declaredFor('text/plain', ['image/*']), undefined);
  assert.equal(declaredFor('', ['*/*']), undefined);
});

test('a declared type with parameters stands for those that have them', () => {
  const declared = ['application/json;version=1', 'application/json;profile=x;version=1', 'text/*'];
  const found = (type: string) => declaredFor(type, declared);
  assert.equal(found('application/json; version=1'), 'application/json;version=1');
  assert.equal(found('Application/JSON;charset=utf-8;Version="1"'), 'application/json;version=1');
  assert.equal(found('application/json; version=1; profile=x'), 'application/json;profile=x;version=1');
  for (const type of [
    'application/json',
    'application/json; version=2',
    'application/json; version=',
    'a/b; version=1',
  ])
    assert.equal(found(type), undefined, type);
  assert.equal(found('text/csv; header=present'), 'text/*');
  assert.equal(declaredFor('application/json; version=2', ['application/json', ...declared]), 'application/json');
});

test('JSON is JSON by name or suffix; sequences of JSON texts are not', () => {
  for (const type of ['application/json', 'text/json', 'application/problem+json', 'application/vnd.it.v2+json'])
    assert.ok(isJson(type), type);
  for (const type of ['application/jsonl', 'application/json-seq', 'application/x-ndjson', 'text/plain', '*/*'])
    assert.ok(!isJson(type), type);
});
