import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { changeWords } from '../../../gateway/portal/change-words.ts';

const told = (text: string) => {
  const { name, rest } = changeWords(text);
  return name === undefined ? rest : `\`${name}\` ${rest}`;
};

test('changes are told in the words of readers', () => {
  for (const [text, words] of [
    ['query parameter "dry_run": it is new', '`dry_run` query parameter added'],
    ['header parameter "If-Match": it is new and required', '`If-Match` header parameter added, required'],
    [
      'header parameter "Idempotency-Key": minLength goes from none to 1',
      '`Idempotency-Key` header parameter: minLength changed from none to 1',
    ],
    ['answer 200 application/json/retried: the property is new', '`retried` in response 200 added'],
    ['answer 4XX application/json/error/item: the property is new', '`error.item` in response 4XX added'],
    ['answer 200: it is new', 'response 200 added'],
    ['answer 200, header ETag: it was removed', '`ETag` header of response 200 removed'],
    [
      'request body application/json/urls: the type goes from string to any',
      '`urls` in the request body: the type changed from string to any',
    ],
    ['request body text/csv: this media type was removed', 'request body as text/csv removed'],
    ['request body: it is required now', 'request body now required'],
    ['the operation is new', 'operation added'],
    ['the operation no longer takes a body', 'the operation no longer takes a body'],
  ] as const)
    assert.equal(told(text), words);
});

test('each recorded change has a place that is understood', () => {
  const record = readFileSync(new URL('../../../openapi/published/changes.jsonl', import.meta.url), 'utf8');
  const texts = record
    .trim()
    .split('\n')
    .flatMap((line) => (JSON.parse(line) as { changes: { text: string }[] }).changes.map(({ text }) => text));
  assert.ok(texts.length > 50);
  for (const text of texts) assert.doesNotMatch(told(text), /answer|it is new|goes from|json\//, text);
});
