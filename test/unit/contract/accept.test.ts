import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAccept } from '../../../gateway/contract/accept.ts';

function accepts(accept: string | undefined, ...answers: string[]): boolean {
  try {
    checkAccept(accept, answers);
    return true;
  } catch {
    return false;
  }
}

test('an answer is taken unless Accept rules out all there are', () => {
  for (const accept of [
    undefined,
    '',
    '*/*',
    'application/json',
    'application/*',
    'text/html, */*;q=0.1',
    'APPLICATION/JSON',
  ])
    assert.ok(accepts(accept, 'application/json'), accept);
  for (const accept of ['text/html', 'image/*', 'application/xml', 'application/json;q=0', '*/*;q=0.0'])
    assert.ok(!accepts(accept, 'application/json'), accept);
  assert.ok(accepts('text/csv', 'application/json', 'text/csv'));
  assert.ok(accepts('text/html'));
});

test('the most precise range decides', () => {
  assert.ok(!accepts('application/json;q=0, */*', 'application/json'));
  assert.ok(accepts('application/*;q=0, application/json', 'application/json'));
  assert.ok(!accepts('application/json', 'text/csv'));
});

test("a vendor's JSON type takes any JSON", () => {
  assert.ok(accepts('application/vnd.github+json', 'application/json'));
  assert.ok(accepts('application/json', 'application/scim+json'));
  assert.ok(!accepts('application/vnd.github+json', 'text/csv'));
});

test('where the answer may be of any type, or of any subtype, the request may ask for any such type', () => {
  for (const accept of ['text/plain', 'image/*;q=0.1', 'application/json']) assert.ok(accepts(accept, '*/*'), accept);
  assert.ok(accepts('image/png', 'image/*'));
  assert.ok(accepts('*/*;q=0.1', 'image/*'));
  assert.ok(!accepts('text/plain', 'image/*'));
  assert.ok(!accepts('image/png;q=0', 'image/*'));
});
