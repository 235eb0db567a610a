import assert from 'node:assert/strict';
import { OutgoingMessage, validateHeaderName, validateHeaderValue } from 'node:http';
import { test } from 'node:test';
import fc from 'fast-check';
import { isFieldName, isFieldText, pathInLink } from '../../../gateway/shared/http/words.ts';
import { deprecationsOf } from '../../../gateway/versions/deprecation.ts';
import { anyCharacter } from '../../support/characters.ts';

const text = fc.string({ unit: anyCharacter, maxLength: 5 });

test('accepted header text is text that a header can carry', () => {
  fc.assert(
    fc.property(text, (value) => {
      if (isFieldText(value)) validateHeaderValue('X', value);
      if (isFieldName(value)) validateHeaderName(value);
    }),
  );
  for (const value of ['a', 'a b\tc', 'application/json;charset=utf-8']) assert.ok(isFieldText(value), value);
  for (const value of ['', ' a', 'a ', 'a\n', 'a\r\nb', 'é', '；', '\u0000']) assert.ok(!isFieldText(value), value);
  for (const name of ['', 'X Y', 'X:', 'Größe', 'X\n']) assert.ok(!isFieldName(name), name);
});

test('any path can be in a link', () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (path) => isFieldText(`<${pathInLink(path)}>`)));
  assert.equal(pathInLink('/v1/größe/<x>/\ud800'), '/v1/gr%C3%B6%C3%9Fe/%3Cx%3E/%EF%BF%BD');
  assert.equal(pathInLink('/v1/a-b_c.d~e'), '/v1/a-b_c.d~e');
});

test("the link to an operation's successor can be sent, for any path", () => {
  const operation = (id: string, path: string) => ({ id, path, method: 'GET', version: 'v1' });
  const served = [operation('sizes', '/v1/größen'), operation('next', '/v1/größen-neu/{id}')];
  const rules = { versions: {}, operations: { sizes: { deprecated: '2026-01-01', successor: 'next' } } };
  const lives = deprecationsOf(served as never, rules, 'http://localhost:8080');
  const [life] = lives.ofOperations.values();
  const [, , name = '', value = ''] = life?.headers ?? [];
  assert.deepEqual([name, value], ['Link', '<http://localhost:8080/v1/gr%C3%B6%C3%9Fen-neu>; rel="successor-version"']);
  new OutgoingMessage().setHeader(name, value);
});
