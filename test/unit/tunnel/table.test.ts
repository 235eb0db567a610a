import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTunnelTable, type TunnelRules, tunnelsOf } from '../../../gateway/tunnel/table.ts';

const limits = {
  ...{ requests: 1, windowSeconds: 1, connections: 1, connectionsTotal: 1 },
  ...{ failures: 1, failuresWindowSeconds: 1 },
};
const rules = (paths: string[], more: Partial<TunnelRules> = {}): TunnelRules => ({
  ...{ paths, hosts: ['jmap'], notOn: [], plain: false, webSocket: false, redirects: {}, except: [], fileNames: [] },
  ...{ logins: { paths: ['/*'], refusals: [401, 402, 403, 429], passwordTokens: [] }, limits },
  ...more,
});
const serving = (...tunnels: TunnelRules[]) => ({ post: { live: ['http://127.0.0.1:1'], timeoutMs: 1, tunnels } });
const tableOf = (...tunnels: TunnelRules[]) => createTunnelTable(serving(...tunnels));
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
  const [tunnel] = tunnelsOf(serving(rules(['/a', '/b/*'])));
  assert.deepEqual(
    ['/a', '/a/', '/b', '/b/', '/b/c/d', '/c'].map((path) => tunnel?.owns(path)),
    [true, false, false, true, true, false],
  );
});

test('exceptions are text with anything between, in any case and as it reads when decoded', () => {
  const [tunnel] = tunnelsOf(serving(rules(['/*'], { except: ['*.php*', '*/wp-*', '/exact', '*end', 'a*a'] })));
  const excepted = ['/x.php', '/x.PHP/y', '/%77p-login', '/a/wp-', '/exact', '/the%20END', '/%2Ephp'];
  for (const path of excepted) assert.ok(tunnel?.isExcepted(path), path);
  for (const path of ['/php', '/exact/', '/ends', '/awp-', '/a']) assert.ok(!tunnel?.isExcepted(path), path);
});

test('an exception takes linear time', () => {
  const [tunnel] = tunnelsOf(serving(rules(['/*'], { except: [`*${'a*'.repeat(40)}b`] })));
  assert.equal(tunnel?.isExcepted(`/${'a'.repeat(60_000)}`), false);
});

test('a redirect holds with and without a slash at its end', () => {
  const [tunnel] = tunnelsOf(serving(rules(['/*'], { redirects: { '/admin': '/login' } })));
  assert.deepEqual(
    ['/admin', '/admin/', '/admin/x', '/'].map((path) => tunnel?.redirects.get(path)),
    ['/login', '/login', undefined, undefined],
  );
});

test('a tunnel is not on a site that it leaves out, whichever site shares its name', () => {
  const table = tableOf(rules(['/dav/*'], { hosts: ['mail'], notOn: ['api'] }));
  const found = (...sites: string[]) => table.find(new Set(sites), '/dav/x')?.name;
  assert.deepEqual([found('mail'), found('mail', 'jmap')], ['post/0', 'post/0']);
  assert.deepEqual([found('api', 'mail', 'jmap'), found('jmap')], [undefined, undefined]);
});

test('a file whose name alone is excepted has another name for the upstream', () => {
  const [tunnel] = tunnelsOf(
    serving(rules(['/*'], { except: ['*.php*', '*/php*', '*bad*'], fileNames: ['/get/*/*'] })),
  );
  const renamed = (path: string) => tunnel?.renamePath(path);
  assert.deepEqual(renamed('/get/1/a.php'), { path: '/get/1/file', name: 'a.php' });
  assert.deepEqual(renamed('/get/1/%70hp%20x'), { path: '/get/1/file', name: '%70hp%20x' });
  for (const path of ['/get/1/a', '/get/a.php', '/get/a.php/x', '/get/1/a.php/', '/get/1/2/a.php', '/got/1/a.php', '/'])
    assert.equal(renamed(path), undefined, path);
  assert.equal(renamed('/get/bad/a.php'), undefined, 'more than the name is excepted');
});

test('a success shows a login where one is needed, a refusal everywhere', () => {
  const logins = { paths: ['/in', '/in/*'], refusals: [401, 429], passwordTokens: [] };
  const [tunnel] = tunnelsOf(serving(rules(['/*'], { logins })));
  const shows = (method: string, path: string, status: number) => tunnel?.showsLogin(method, path, status);
  assert.deepEqual(
    [shows('GET', '/in/x', 200), shows('GET', '/out', 200), shows('OPTIONS', '/in/x', 200)],
    [true, false, false],
  );
  assert.deepEqual(
    [shows('GET', '/out', 401), shows('OPTIONS', '/in', 429), shows('GET', '/in', 403)],
    [true, true, false],
  );
  assert.equal(shows('GET', '/in', 302), false);
});

test('tunnels that are counted together have the name of the first', () => {
  const together = { logins: { countedAs: 'users', paths: ['/*'], refusals: [401], passwordTokens: [] } };
  const tunnels = tunnelsOf(serving(rules(['/a']), rules(['/b'], together), rules(['/c']), rules(['/d'], together)));
  assert.deepEqual(
    tunnels.map(({ countedAs }) => countedAs),
    ['post/0', 'post/1', 'post/2', 'post/1'],
  );
});
