import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ambiguousPaths } from '../../../gateway/contract/lint/ambiguous-paths.ts';

const crossings = (...routes: string[]) =>
  ambiguousPaths(
    routes.map((route) => ({ method: route.split(' ')[0] as string, path: route.split(' ')[1] as string })),
  );

test('templates cross when each is the more special one somewhere', () => {
  assert.deepEqual(crossings('GET /a/{x}/c', 'GET /a/b/{y}'), [['/a/{x}/c', '/a/b/{y}']]);
  assert.deepEqual(crossings('GET /{x}/me', 'GET /books/{id}'), [['/{x}/me', '/books/{id}']]);
  assert.deepEqual(crossings('GET /a/{x}:go/{y}', 'GET /a/{x}/c'), [['/a/{x}:go/{y}', '/a/{x}/c']]);
});

test('a special case of another template does not cross it', () => {
  assert.deepEqual(crossings('GET /a/{x}', 'GET /a/b', 'GET /a/{x}:go', 'GET /a/{x}/{y}', 'GET /a/b/c'), []);
});

test('templates that no request matches both do not cross', () => {
  assert.deepEqual(crossings('GET /a/{x}/c', 'GET /b/{y}/{z}'), []);
  assert.deepEqual(crossings('GET /a/{x}:go/c', 'GET /a/stop/{y}'), []);
  assert.deepEqual(crossings('GET /a/{x}/c', 'POST /a/b/{y}'), []);
});
