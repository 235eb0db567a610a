import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { changeRows } from '../../../gateway/portal/change-rows.ts';
import type { Publication, PublishedChange } from '../../../gateway/shared/publication.ts';

const changeOf = (text: string, more: Partial<PublishedChange> = {}): PublishedChange => ({
  ...{ rule: 'request-keyword-narrowed', level: 'breaking', text, operations: [{ id: 'a', at: 'GET /v1/a' }] },
  ...more,
});
const toldOf = (...texts: string[]) =>
  changeRows(texts.map((text) => changeOf(text))).map(({ name, rest }) =>
    name === undefined ? rest : `\`${name}\` ${rest}`,
  );

test('changes are told in the words of readers', () => {
  for (const [text, words] of [
    ['query parameter "dry_run": it is new', '`dry_run` query parameter added'],
    ['header parameter "If-Match": it is new and required', '`If-Match` header parameter added, required'],
    [
      'header parameter "Idempotency-Key": minLength goes from none to 1',
      '`Idempotency-Key` header parameter: now at least 1 character',
    ],
    [
      'query parameter "limit": maximum goes from 100 to 50',
      '`limit` query parameter: now at most 50, before at most 100',
    ],
    ['query parameter "limit": minimum goes from 1 to none', '`limit` query parameter: no longer at least 1'],
    ['answer 200 application/json/retried: the property is new', '`retried` in response 200: added'],
    ['answer 200 application/json/data/[]/quota/anyOf: the property is new', '`data[].quota` in response 200: added'],
    ['answer 200: it is new', 'response 200 added'],
    ['answer 200, header ETag: it was removed', '`ETag` header of response 200 removed'],
    [
      'request body application/json/urls: the type goes from string to any',
      '`urls` in the request body: type changed from string to any',
    ],
    [
      'request body application/json: if goes from another to another',
      'request body as application/json: the conditions changed',
    ],
    ['request body text/csv: this media type was removed', 'request body as text/csv removed'],
    ['request body: it is required now', 'request body: now required'],
    ['the operation is new', 'operation added'],
    ['the operation no longer takes a body', 'the operation no longer takes a body'],
  ] as const)
    assert.deepEqual(toldOf(text), [words]);
});

test('what happened to one parameter is one row, its pattern a detail', () => {
  const place = 'header parameter "Idempotency-Key"';
  const rows = changeRows([
    changeOf(`${place}: minLength goes from none to 1`),
    changeOf(`${place}: maxLength goes from none to 512`),
    changeOf(`${place}: the pattern goes from none to ^[a-z: ]+$`),
  ]);
  assert.equal(rows.length, 1);
  assert.equal(
    rows[0]?.rest,
    'header parameter: now at least 1 character; now at most 512 characters; has a stricter form',
  );
  assert.deepEqual(rows[0]?.details, ['^[a-z: ]+$']);
});

test('both parts of a condition, and the same field of several responses, are one row', () => {
  const body = 'request body application/json';
  assert.deepEqual(toldOf(`${body}: if goes from none to {}`, `${body}: then goes from none to another`), [
    'request body as application/json: the conditions changed',
  ]);
  const added = ['4XX', '5XX'].map((status) => `answer ${status} application/json/error/item: the property is new`);
  assert.deepEqual(toldOf(...added), ['`error.item` in responses 4XX, 5XX: added']);
});

test('a row breaks if one of its changes does, and stands first', () => {
  const place = 'request body application/json/urls';
  const rows = changeRows([
    changeOf('the operation is new', { rule: 'operation-added', level: 'additive' }),
    changeOf(`${place}: the type goes from string to any`, { level: 'additive' }),
    changeOf(`${place}: it is required now`),
  ]);
  assert.deepEqual(
    rows.map(({ mark, rest }) => `${mark} ${rest}`),
    ['breaking in the request body: type changed from string to any; now required', 'new operation added'],
  );
});

test('what happened alike to several operations is one row, and other things are rows of their own', () => {
  const [a, b] = [
    { id: 'a', at: 'GET /v1/a' },
    { id: 'b', at: 'GET /v1/b' },
  ];
  const place = 'request body application/json';
  const rows = changeRows([
    changeOf(`${place}: if goes from none to {}`, { operations: [a] }),
    changeOf(`${place}: then goes from none to another`, { operations: [a, b] }),
    changeOf(`${place}: it is required now`, { operations: [b] }),
  ]);
  assert.deepEqual(
    rows.map(({ rest, operations }) => [rest, operations.map(({ id }) => id)]),
    [
      ['request body as application/json: the conditions changed', ['a', 'b']],
      ['request body as application/json: now required', ['b']],
    ],
  );
});

test('each recorded change is told without the words and patterns of the comparison', () => {
  const record = readFileSync(new URL('../../../openapi/published/changes.jsonl', import.meta.url), 'utf8');
  const changes = record
    .trim()
    .split('\n')
    .flatMap((line) => (JSON.parse(line) as Publication).changes);
  assert.ok(changes.length > 50);
  for (const { rest } of changeRows(changes))
    assert.doesNotMatch(rest, /answer|it is new|goes from|json\/|another to|none|\bif\b|minLength|\\x22/, rest);
});
