import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnswerCheck } from '../../../gateway/contract/answer.ts';
import type { AnswerCheck } from '../../../gateway/exchange/answer-check.ts';
import type { Operation } from '../../../gateway/exchange/operation.ts';
import { compileDocument, documentOf } from './compiled.ts';

async function answersOf(responses: object, says: object = {}) {
  const clock = { nowMs: 0 };
  const document = documentOf({ '/': { get: { responses } } });
  const { operations, schemas, mistakes } = await compileDocument(document, { public: true, ...says });
  assert.deepEqual(mistakes, []);
  const operation = operations[0]?.operation;
  assert.ok(operation);
  const check = createAnswerCheck(operations, schemas, () => clock.nowMs);
  return { ...check, ...headChecks(check), operation, clock };
}

/** Returns the two parts of the check of a head: the description of an undeclared answer, and the reaction to its body. */
function headChecks(check: AnswerCheck) {
  function undeclared(
    operation: Operation,
    status: number,
    type: string | undefined,
    hasBody: boolean,
    isRequested = true,
  ) {
    const found = check.reactionTo(operation, { status, hasBody, dropsBody: true }, type, isRequested);
    return typeof found === 'string' ? undefined : found;
  }
  const reactionTo = (operation: Operation, status: number, type?: string, isRequested = true) =>
    check.reactionTo(operation, { status, hasBody: false, dropsBody: false }, type, isRequested);
  return { undeclared, reactionTo };
}

const json = (schema: object) => ({ description: 'x', content: { 'application/json': { schema } } });

test('the response of a status is the exact one, else its range, else the default', async () => {
  const { violations, operation } = await answersOf({
    200: json({ const: 'exact' }),
    '2XX': json({ const: 'range' }),
    default: json({ const: 'default' }),
  });
  for (const [status, value] of [
    [200, 'exact'],
    [201, 'range'],
    [404, 'default'],
  ] as const) {
    assert.deepEqual(violations(operation, status, Buffer.from(`"${value}"`)), []);
    assert.deepEqual(violations(operation, status, Buffer.from('"other"')), ['the body: not_allowed']);
  }
});

const content = { 'application/json': {}, 'image/*': {} };

test('declared media types and ranges are declared, and where none is declared all in which no scripts run', async () => {
  const { undeclared, operation } = await answersOf({ 200: { description: 'x', content }, 202: { description: 'x' } });
  const isDeclared = (status: number, type?: string) => undeclared(operation, status, type, true) === undefined;
  assert.ok(isDeclared(200, 'Application/JSON;charset=utf-8'));
  assert.ok(isDeclared(200, 'image/png'));
  assert.ok(!isDeclared(200, 'text/plain'));
  assert.ok(!isDeclared(200, undefined));
  assert.equal(undeclared(operation, 200, 'text/plain', false), undefined, 'an answer without a body has no type');
  assert.ok(isDeclared(202, 'text/plain'));
  assert.ok(isDeclared(202, undefined));
  for (const active of ['Text/HTML; charset=utf-8', 'image/svg+xml', 'application/xhtml+xml', 'text/xml'])
    assert.equal(undeclared(operation, 202, active, true)?.isActive, true, active);
});

test('parts and unchanged answers are declared where the whole is', async () => {
  const { undeclared, reactionTo, operation } = await answersOf({ 200: { description: 'x', content } });
  assert.equal(undeclared(operation, 304, undefined, false), undefined);
  assert.equal(undeclared(operation, 206, 'image/png', true), undefined);
  assert.equal(undeclared(operation, 206, 'multipart/byteranges; boundary=x', true), undefined);
  assert.equal(undeclared(operation, 206, 'text/plain', true)?.what, 'media type');
  assert.equal(reactionTo(operation, 206, 'application/json'), 'off');
  assert.equal(undeclared(operation, 201, 'application/json', true)?.what, 'status');
});

test('a part or an unchanged answer that was not asked for is declared only where the contract names its status', async () => {
  const json = { 'application/json': { schema: { type: 'object' } } };
  const silent = await answersOf({
    ...{ 200: { description: 'x', content }, '3XX': { description: 'x' }, default: { description: 'x', content } },
  });
  for (const status of [206, 304])
    assert.equal(silent.undeclared(silent.operation, status, 'image/png', true, false)?.what, 'status', `${status}`);
  assert.equal(silent.undeclared(silent.operation, 206, 'image/png', true, true), undefined, 'asked, after unasked');
  const named = await answersOf({ 200: { description: 'x' }, 206: { description: 'x', content: json }, 304: {} });
  assert.equal(named.undeclared(named.operation, 304, undefined, false, false), undefined);
  assert.equal(named.undeclared(named.operation, 206, 'application/json', true, false), undefined);
  assert.equal(named.undeclared(named.operation, 206, 'multipart/byteranges', true, false)?.what, 'media type');
  assert.notEqual(named.reactionTo(named.operation, 206, 'application/json', false), 'off', 'its body is checked');
});

test('an undeclared answer is described with the line that would declare it, and without text that is no media type', async () => {
  const { undeclared, operation } = await answersOf({ 200: { description: 'x', content }, 404: { description: 'x' } });
  assert.equal(
    undeclared(operation, 200, 'text/csv; x="<script>"', true)?.text.replace(/\S*\/it\.yaml/, 'test.yaml'),
    'status 200 with text/csv; the contract declares application/json, image/*; to declare it, add text/csv: {} under paths./.get.responses.200.content (GET /, test.yaml)',
  );
  // A page is a fault of the service until its owners say that it is meant.
  assert.match(
    undeclared(operation, 200, 'text/html; charset=utf-8', true)?.text ?? '',
    /image\/\*; look at the service, because this is mostly its login or error page; otherwise, to declare it, add text\/html: /,
  );
  assert.match(undeclared(operation, 200, '<script>', true)?.text ?? '', /^status 200 with an unreadable media type; /);
  assert.match(
    undeclared(operation, 200, undefined, true)?.text ?? '',
    /no media type; .*; have the service send Content-Type$/,
  );
  assert.match(
    undeclared(operation, 207, 'text/xml', true)?.text ?? '',
    /^status 207; the contract declares 200, 404; to declare it, add "207": \{ description: …, content: \{ text\/xml: \{\} \} \} under paths/,
  );
});

test('only JSON is looked at, by its own schema', async () => {
  const content = {
    'text/csv': {},
    'application/json': { schema: { const: 1 } },
    'application/hal+json': { schema: { const: 2 } },
  };
  const { reactionTo, violations, operation } = await answersOf(
    { 200: { description: 'x', content }, 204: { description: 'x' } },
    { response: 'refuse' },
  );
  assert.equal(reactionTo(operation, 200, 'text/csv'), 'off');
  assert.equal(reactionTo(operation, 200, 'application/hal+json'), 'refuse');
  assert.equal(reactionTo(operation, 200), 'refuse');
  assert.equal(reactionTo(operation, 204), 'off');
  assert.deepEqual(violations(operation, 200, Buffer.from('2'), 'application/hal+json; v=1'), []);
  assert.deepEqual(violations(operation, 200, Buffer.from('2'), 'application/json'), ['the body: not_allowed']);
});

test('one answer per operation and second is reported on', async () => {
  const { reactionTo, operation, clock } = await answersOf({ 200: json({}) });
  assert.equal(reactionTo(operation, 200), 'report');
  clock.nowMs = 999;
  assert.equal(reactionTo(operation, 200), 'off');
  clock.nowMs = 1000;
  assert.equal(reactionTo(operation, 200), 'report');
});

test('an answer that would take long to check is not', async () => {
  const { violations, operation } = await answersOf({ 200: json({ type: 'array', items: { type: 'string' } }) });
  const deep = Buffer.from('['.repeat(100_000) + ']'.repeat(100_000));
  assert.deepEqual(violations(operation, 200, deep), ['the body is nested too deeply to be checked']);
  assert.equal(violations(operation, 200, Buffer.from(JSON.stringify(Array(50_000).fill(1)))).length, 1);
});
