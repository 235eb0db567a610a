import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { changeRows } from '../../../gateway/portal/changes/rows.ts';
import { patternWords } from '../../../gateway/portal/pattern-words.ts';
import type { Publication, PublishedChange } from '../../../gateway/shared/contracts/published-contract.ts';

const changeOf = (text: string, more: Partial<PublishedChange> = {}): PublishedChange => ({
  ...{ rule: 'request-keyword-narrowed', level: 'breaking', text, operations: [{ id: 'a', at: 'GET /v1/a' }] },
  ...more,
});
const toldOf = (...texts: string[]) =>
  changeRows(texts.map((text) => changeOf(text))).map(({ name, rest, values }) =>
    [
      name === undefined ? rest : `\`${name}\` ${rest}`,
      ...values.map(({ label, before, after }) => `${label}: ${before} → ${after}`),
    ].join('; '),
  );

test('changes are told in the words of readers', () => {
  for (const [text, words] of [
    ['query parameter "dry_run": it is new', '`dry_run` query parameter added'],
    ['header parameter "If-Match": it is new and required', '`If-Match` header parameter added, required'],
    [
      'header parameter "Idempotency-Key": minLength goes from none to 1',
      '`Idempotency-Key` header parameter changed; length: no limit → at least 1 character',
    ],
    [
      'query parameter "limit": maximum goes from 100 to 50',
      '`limit` query parameter changed; value: at most 100 → at most 50',
    ],
    [
      'query parameter "limit": minimum goes from 1 to none',
      '`limit` query parameter changed; value: at least 1 → no limit',
    ],
    ['answer 200 application/json/retried: the property is new', '`retried` in response 200: added'],
    ['answer 200 application/json/data/[]/quota/anyOf: the property is new', '`data[].quota` in response 200: added'],
    ['answer 200: it is new', 'response 200 added'],
    ['query parameter "q": constructor goes from a to b', '`q` query parameter: the rule constructor was changed'],
    ['answer 200, header ETag: it was removed', '`ETag` header of response 200 removed'],
    [
      'request body application/json/urls: the type goes from string to any',
      '`urls` in the request body: changed; type: string → any',
    ],
    [
      'request body application/json: if goes from another to another',
      'request body: which fields it must have depends on other values than before',
    ],
    [
      'answer 200 application/json/data: the alternative integer is new',
      '`data` in response 200: may also be integer now',
    ],
    ['query parameter "sort": the value "asc" is no longer possible', '`sort` query parameter: can no longer be "asc"'],
    [
      'query parameter "sort": the default goes from none to asc',
      '`sort` query parameter changed; default: none → asc',
    ],
    ['request body text/csv: this media type was removed', 'request body as text/csv removed'],
    ['request body: it is required now', 'request body: now required'],
    ['the operation is new', 'operation added'],
    ['the webhook is new', 'webhook added'],
    ['payload application/json/weight: the property is new', '`weight` in the payload: added'],
    ['payload application/json: it was removed', 'payload removed'],
    ['header x-event: it was removed', '`x-event` header removed'],
    ['the operation no longer takes a body', 'the operation no longer takes a body'],
  ] as const)
    assert.deepEqual(toldOf(text), [words]);
});

test('what happened to one parameter is one row, both ends of a range one value', () => {
  const place = 'header parameter "Idempotency-Key"';
  const rows = changeRows([
    changeOf(`${place}: minLength goes from none to 1`),
    changeOf(`${place}: maxLength goes from none to 512`),
    changeOf(`${place}: the pattern goes from none to ^[a-z: ]+$`),
  ]);
  assert.equal(rows.length, 1);
  assert.equal(rows[0]?.rest, 'header parameter changed');
  assert.deepEqual(rows[0]?.values, [
    { label: 'length', before: 'no limit', after: 'at least 1 character, at most 512 characters' },
    { label: 'form', before: 'any text', after: '1 or more lowercase letters, : or spaces', exact: ['^[a-z: ]+$'] },
  ]);
});

test('both parts of a condition, and the same field of several responses, are one row', () => {
  const body = 'request body application/json';
  assert.deepEqual(toldOf(`${body}: if goes from none to {}`, `${body}: then goes from none to another`), [
    'request body: which fields it must have now depends on the values of others',
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
    ['breaking in the request body: now required', 'new operation added'],
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
      ['request body: which fields it must have now depends on the values of others', ['a', 'b']],
      ['request body: now required', ['b']],
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
  for (const { rest, mark, advice, values } of changeRows(changes)) {
    assert.equal(advice.length > 0, mark === 'breaking', rest);
    for (const text of values.flatMap(({ before, after }) => [before, after]))
      if (!text.includes('matching ')) assert.doesNotMatch(text, /[\\^{]/);
    assert.doesNotMatch(
      rest,
      /answer|it is new|goes from|json\/|another to|none|\bif\b|minLength|\\x22|conditions/,
      rest,
    );
  }
});

test('what breaks clients says what to do about it, once', () => {
  const place = 'query parameter "limit"';
  const [row] = changeRows([
    changeOf(`${place}: maximum goes from 100 to 50`, { rule: 'request-bound-narrowed' }),
    changeOf(`${place}: minimum goes from 0 to 1`, { rule: 'request-bound-narrowed' }),
    changeOf(`${place}: it is required now`, { rule: 'request-parameter-required' }),
  ]);
  assert.deepEqual(row?.advice, [
    'Keep what you send within the new limit.',
    'Send it with every request.',
    'Other requests are refused with 400 validation_failed.',
  ]);
  assert.deepEqual(
    changeRows([changeOf('the operation is new', { rule: 'operation-added', level: 'additive' })])[0]?.advice,
    [],
  );
});

test('a pattern is told in words where they suffice, else as it is; what is not shown whole is folded', () => {
  const place = 'query parameter "id"';
  const [pattern, long] = ['^(\\x22[!-~]+\\x22|[!#-~])$', 'x'.repeat(90)];
  const valueIn = (what: string) => changeRows([changeOf(`${place}: ${what}`)])[0]?.values[0];
  assert.deepEqual(valueIn(`the pattern goes from ${pattern} to ^[a-z]{2,8}$`), {
    ...{ label: 'form', before: `matching ${pattern}`, after: '2 to 8 lowercase letters' },
    exact: [pattern, '^[a-z]{2,8}$'],
  });
  assert.deepEqual(valueIn(`the pattern goes from ${pattern} to ^(?!a).*$`), {
    ...{ label: 'form', before: `matching ${pattern}`, after: 'matching ^(?!a).*$' },
  });
  assert.deepEqual(valueIn(`the pattern goes from none to ${pattern}`), {
    ...{ label: 'form', before: 'any text', after: `matching ${pattern}` },
  });
  const longPattern = `^(?!${'a'.repeat(90)})`;
  const cut = valueIn(`the pattern goes from ${pattern} to ${longPattern}`);
  assert.deepEqual([cut?.after.length, cut?.exact], ['matching '.length + 80, [pattern, longPattern]]);
  const value = valueIn(`the default goes from none to ${long}`);
  assert.deepEqual([value?.before, value?.after.length, value?.exact], ['none', 80, [long]]);
});

test('patterns are told in words only as far as the words are true', () => {
  for (const [pattern, words] of [
    ['^cus_[a-z0-9]{8,}$', 'cus_, then 8 or more lowercase letters or digits'],
    ['^\\+[1-9]\\d{1,14}$', '+, then 1 digit from 1 to 9, then 1 to 14 digits'],
    ['^(asc|desc)$', 'asc or desc'],
    ['^[^\\u0000-\\u001F\\u007f-\\u009f\\u2028\\u2029]*$', 'no control characters'],
    ['^[^\\u0000-\\u0041\\u007f]*$', undefined],
    ['^[A-Z]{3}-?$', undefined],
    ['^[A-Z]{3}-[0-9]?$', '3 capital letters, then -, then at most 1 digit'],
    ['^[A-Za-z0-9_-]{1,64}$', '1 to 64 letters, digits, _ or -'],
    ['^cust?_[0-9A-Za-z]{16}$', 'cus_ or cust_, then 16 digits or letters'],
    ['^a?b?$', undefined],
    ['^a|b$', undefined],
    ['^a.b$', undefined],
    ['^[^/]+$', undefined],
    ['^[!-~]+$', undefined],
    ['^[\\w.]+$', undefined],
    ['^[a-z]+?$', undefined],
    ['abc', undefined],
    ['^a\\$', undefined],
  ] as const)
    assert.equal(patternWords(pattern), words, pattern);
});
