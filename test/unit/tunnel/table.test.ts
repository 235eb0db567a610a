import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTunnelTable, type TunnelRules } from '../../../gateway/tunnel/table.ts';

const limits = {
  ...{ requests: 1, windowSeconds: 1, connections: 1, connectionsTotal: 1 },
  ...{ failures: 1, failuresWindowSeconds: 1 },
};
const rules = (paths: string[], more: Partial<TunnelRules> = {}): TunnelRules => ({
  ...{ paths, hosts: ['jmap'], webSocket: false, redirects: {}, except: [], limits },
  ...more,
});
const tableOf = (...tunnels: TunnelRules[]) =>
  createTunnelTable({ post: { live: ['http://127.0.0.1:1'], timeoutMs: 1, tunnels } });
const jmap = new Set(['api', 'jmap']);

test('a path belongs to the tunnel that names it, or the longest prefix of it', () => {
  const table = tableOf(
    rules(['/a', '/a/*']),
    rules(['/a/b/*', '/.well-known/jmap']),
    rules(['/*'], { hosts: ['panel'] }),
  );
  const found = (target: string, sites = jmap) => table.find(sites, target)?.name;
  assert.equal(found('/a'), 'post/0');
  assert.equal(found('/a?x=/a/b/c'), 'post/0');
  assert.equal(found('/a/'), 'post/0');
  assert.equal(found('/a/b'), 'post/0');
  assert.equal(found('/a/b/c'), 'post/1');
  assert.equal(found('/.well-known/jmap'), 'post/1');
  assert.equal(found('http://host.test:1/a/b/?c'), 'post/1');
  for (const target of ['/', '/ab', '/A', '/%61', '//a', '/.well-known/jmap/', '*', 'http://host.test', '/a%2f'])
    assert.equal(found(target), undefined, target);
  assert.equal(found('/anything', new Set(['panel'])), 'post/2');
  assert.equal(found('/a', new Set(['mail'])), undefined);
});

test('a tunnel owns the paths below its own', () => {
  const [tunnel] = tableOf(rules(['/a', '/b/*'])).tunnels;
  assert.deepEqual(
    ['/a', '/a/', '/b', '/b/', '/b/c/d', '/c'].map((path) => tunnel?.owns(path)),
    [true, false, false, true, true, false],
  );
});

test('exceptions are text with anything between, in any case and as it reads when decoded', () => {
  const [tunnel] = tableOf(rules(['/*'], { except: ['*.php*', '*/wp-*', '/exact', '*end', 'a*a'] })).tunnels;
  const excepted = ['/x.php', '/x.PHP/y', '/%77p-login', '/a/wp-', '/exact', '/the%20END', '/%2Ephp'];
  for (const path of excepted) assert.ok(tunnel?.isExcepted(path), path);
  for (const path of ['/php', '/exact/', '/ends', '/awp-', '/a']) assert.ok(!tunnel?.isExcepted(path), path);
});

test('an exception takes linear time', () => {
  const [tunnel] = tableOf(rules(['/*'], { except: [`*${'a*'.repeat(40)}b`] })).tunnels;
  assert.equal(tunnel?.isExcepted(`/${'a'.repeat(60_000)}`), false);
});

test('a redirect holds with and without a slash at its end', () => {
  const [tunnel] = tableOf(rules(['/*'], { redirects: { '/admin': '/login' } })).tunnels;
  assert.deepEqual(
    ['/admin', '/admin/', '/admin/x', '/'].map((path) => tunnel?.redirects.get(path)),
    ['/login', '/login', undefined, undefined],
  );
});
