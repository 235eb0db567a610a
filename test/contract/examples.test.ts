// The gateway accepts every example of the shipped contracts.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAnswerCheck } from '../../gateway/contract/answer.ts';
import { createParameterReader } from '../../gateway/contract/parameters/parameters.ts';
import { isRecord, member } from '../../gateway/contract/pointer.ts';
import { toViolations, type Violation } from '../../gateway/contract/violations/violations.ts';
import { bodyViolations, examplesOf, jsonContent, operations, requestContent, schemas } from './shipped.ts';

const answers = createAnswerCheck(operations, schemas, Date.now);

/** Operations with a success that is not JSON. */
const BYTES: ReadonlyMap<string, string> = new Map([
  ['downloadFile', 'application/octet-stream'],
  ['watchFiles', 'text/event-stream'],
  ['openFileSocket', 'none: a WebSocket'],
]);

/** Operations that are all in their path. */
const WITHOUT_BODY: ReadonlySet<string> = new Set([
  'suspendOrganization',
  'resumeOrganization',
  'resetOrganizationLimits',
  'retryUpstream',
  'endOrganizationSession',
]);

for (const entry of operations) {
  const { operation, document, located, parameters } = entry;
  const { root } = document;

  describe(operation.id, () => {
    const content = requestContent(entry);
    if (['POST', 'PATCH'].includes(operation.method) && !WITHOUT_BODY.has(operation.id)) {
      test('has examples of its body, and accepts them', () => {
        assert.ok(content);
        const examples = examplesOf(entry, content);
        assert.notEqual(examples.length, 0);
        for (const { name, value } of examples) assert.deepEqual(bodyViolations(entry, value), [], name);
      });
    }

    test('has an example of every parameter, and accepts them together', () => {
      const given = {
        path: new Map<string, string>(),
        query: new URLSearchParams(),
        header: new Map<string, string>(),
      };
      for (const parameter of parameters) {
        const { name, in: place } = parameter.value as { name: string; in: 'path' | 'query' | 'header' };
        const [example] = examplesOf(entry, parameter);
        assert.ok(example, `${name} has no example`);
        given[place].set(place === 'header' ? name.toLowerCase() : name, String(example.value));
      }
      const violations: Violation[] = [];
      const reader = createParameterReader(entry);
      const values = reader.read(
        { path: '', pathValues: [...given.path.values()], query: given.query.toString(), headers: given.header },
        violations,
      );
      violations.push(...toViolations(schemas.request(entry).parameters(values, 0), root));
      assert.deepEqual(violations, []);
    });

    const responses = member(root, located, 'responses');
    const isBytes = BYTES.has(operation.id);
    for (const status of Object.keys(responses.value as object)) {
      test(`has examples of its ${status} answer, and accepts them`, () => {
        const answer = jsonContent(entry, member(root, responses, status));
        if (isBytes && ['101', '200', '206', '304'].includes(status)) {
          assert.equal(answer, undefined);
          return;
        }
        assert.ok(answer);
        const examples = examplesOf(entry, answer);
        assert.notEqual(examples.length, 0);
        for (const { name, value } of examples) {
          const body = Buffer.from(JSON.stringify(value));
          assert.deepEqual(answers.violations(operation, statusOf(status, value), body), [], name);
        }
      });
    }

    if (entry.operation.id === 'openFileSocket') return;
    test(`accepts ${isBytes ? 'its media type' : 'JSON answers'} only`, () => {
      const success = Number(Object.keys(responses.value as object).find((status) => /^2\d\d$/.test(status)));
      const mediaType = BYTES.get(operation.id) ?? 'application/json; charset=utf-8';
      const head = { status: success, hasBody: true, dropsBody: true };
      assert.equal(answers.reactionTo(operation, head, mediaType), 'off');
      for (const type of ['text/html', undefined])
        assert.partialDeepStrictEqual(answers.reactionTo(operation, head, type), { reaction: 'refuse' });
    });
  });
}

/** A range stands for the status in the example itself. */
function statusOf(status: string, example: unknown): number {
  if (/^\d+$/.test(status)) return Number(status);
  const error = isRecord(example) ? example.error : undefined;
  return isRecord(error) ? Number(error.status) : Number(status.replace('XX', '00'));
}
