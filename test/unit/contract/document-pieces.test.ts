import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { JsonObject } from '../../../gateway/contract/pointer.ts';
import { jsonPiecesOf, type Piece, putPiece } from '../../../gateway/contract/reading/document-pieces.ts';

/** As pieces cross from one thread to another. */
function taken(pieces: Iterable<Piece>): JsonObject {
  const root: JsonObject = {};
  for (const piece of pieces) putPiece(root, structuredClone(piece));
  return root;
}

test('a document put together again equals the one taken apart, in its order', () => {
  const components = fc.dictionary(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()));
  const document = fc.record({ paths: fc.dictionary(fc.string(), fc.jsonValue()), components, info: fc.jsonValue() });
  fc.assert(
    fc.property(document, (value) => {
      const before = JSON.parse(JSON.stringify(value)) as JsonObject;
      const after = taken(jsonPiecesOf(before));
      assert.equal(JSON.stringify(after), JSON.stringify(before));
      assert.ok(isDeepStrictEqual(structuredClone(after), structuredClone(before)));
    }),
  );
});

test('names with escapes and names that mean something in JavaScript are kept', () => {
  const properties = { '^[a-z\\d]+$': { type: 'string' }, 'a"b': {}, '\u2028': 1 };
  const text = `{"components":{"schemas":{"__proto__":{"a":1},"constructor":{"b":2}}},"__proto__":{"c":3}}`;
  const root = taken(jsonPiecesOf({ ...JSON.parse(text), paths: { '/a\\b': { patternProperties: properties } } }));
  assert.deepEqual(root.paths, { '/a\\b': { patternProperties: properties } });
  assert.deepEqual(Object.keys((root.components as { schemas: object }).schemas), ['__proto__', 'constructor']);
  assert.equal(Object.getPrototypeOf(root), Object.prototype);
});

test('a large document comes in several pieces, and a member is one value for any number of reads', () => {
  const schemas = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`S${index}`, { d: 'x'.repeat(100_000) }]),
  );
  const pieces = [...jsonPiecesOf({ openapi: '3.1.0', components: { schemas }, paths: {} })];
  assert.ok(pieces.length > 5);
  assert.ok(pieces.every((piece) => JSON.stringify(piece).length < 1_300_000));
  const { schemas: after } = taken(pieces).components as { schemas: Record<string, object> };
  assert.deepEqual(after, schemas);
  assert.equal(after.S3, after.S3);
});
