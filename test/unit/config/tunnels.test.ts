import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHosts, hosts as hostsShape } from '../../../gateway/config/gateway/hosts.ts';
import { checkTunnels } from '../../../gateway/config/upstreams/tunnel-paths.ts';
import { tunnel as tunnelShape } from '../../../gateway/config/upstreams/tunnels.ts';
import type { Mistake } from '../../../gateway/shared/mistakes.ts';
import type { Source } from '../../../gateway/shared/yaml-source.ts';

const at = (path: readonly (string | number)[], reason: string, remedy: string) => ({
  ...{ file: 'f.yaml', place: path.join('.'), reason, remedy },
});
const source: Source = { file: 'f.yaml', value: {}, masked: String, mistakeAt: at, mistakeAtKey: at };
const publicUrl = 'https://api.test';
const sentencesOf = (mistakes: Mistake[]) => mistakes.map(({ place, reason }) => `${place}: ${reason}`);

function mistakesOf(
  tunnels: object[],
  hosts: object = {},
  operations: [string, string][] = [],
  on: string[] = ['api'],
) {
  const mistakes: Mistake[] = [];
  const entry = { hosts: on as ['api'], tunnels: tunnels.map((one) => tunnelShape.parse(one)) };
  const placed = operations.map(([id, path]) => ({ id, upstream: 'a', path }));
  checkTunnels(
    { upstreams: { a: entry }, hosts: hostsShape.parse(hosts), publicUrl, operations: placed, source },
    mistakes,
  );
  return sentencesOf(mistakes);
}

test('a tunnel has defaults that suit a mail server', () => {
  const { hosts, webSocket, limits, except, redirects } = tunnelShape.parse({ paths: ['/jmap/*'] });
  assert.deepEqual([hosts, webSocket, except, redirects], [['api'], false, [], {}]);
  assert.deepEqual(limits, {
    ...{ requests: 600, windowSeconds: 60, connections: 20, connectionsTotal: 2000 },
    ...{ failures: 50, failuresWindowSeconds: 86_400 },
  });
});

test('paths are written in the one way that is compared', () => {
  for (const path of ['/', '/*', '/jmap', '/jmap/', '/jmap/*', '/.well-known/jmap', '/a-b_c~d.e/f'])
    assert.ok(tunnelShape.safeParse({ paths: [path] }).success, path);
  for (const path of ['', 'jmap', '/a//b', '/a*', '/*/a', '/a/../b', '/./a', '/a%20b', '/a?b', '/a;b', '/a/**', '/ä'])
    assert.ok(!tunnelShape.safeParse({ paths: [path] }).success, path);
});

test('all paths are for the panel only', () => {
  assert.deepEqual(mistakesOf([{ paths: ['/*'], hosts: ['panel'] }], { panel: 'p.test' }), []);
  const [mistake] = mistakesOf([{ paths: ['/*'], hosts: ['panel', 'jmap'] }]);
  assert.match(mistake ?? '', /^upstreams\.a\.tunnels\.0\.paths\.0: only the panel can forward all paths of a host/);
});

test('a path that something else is at is a mistake where both share a host name', () => {
  const operations: [string, string][] = [
    ['getThing', '/v1/things/{id}'],
    ['listBoxes', '/jmap/boxes'],
  ];
  const collides = (path: string, hosts?: object) =>
    mistakesOf([{ paths: [path], hosts: ['jmap'] }], hosts, operations).length > 0;
  for (const path of [
    '/v1/*',
    '/v1/things/*',
    '/v1/things/x',
    '/jmap/*',
    '/jmap/boxes',
    '/docs',
    '/docs/*',
    '/openapi/*',
  ])
    assert.ok(collides(path), path);
  for (const path of ['/.well-known/jwks.json', '/.well-known/*']) assert.ok(collides(path), path);
  for (const path of ['/v1/things', '/v1/things/x/y', '/jmap', '/jmap/', '/.well-known/jmap', '/doc'])
    assert.ok(!collides(path), path);
  assert.ok(!collides('/jmap/*', { jmap: 'jmap.test' }), 'the operations are elsewhere');
  assert.ok(collides('/jmap/*', { jmap: 'api.test' }), 'the same name by other means');
  assert.ok(collides('/docs/*', { jmap: 'jmap.test' }), 'the gateway’s own are everywhere');
});

test('two tunnels for the same are a mistake; one within the other is not', () => {
  const two = (first: object, second: object) => mistakesOf([first, second], { jmap: 'jmap.test' });
  assert.match(
    two({ paths: ['/a/*'] }, { paths: ['/a/*'] })[0] ?? '',
    /^upstreams\.a\.tunnels\.1\.paths\.0: the path \/a\/\*/,
  );
  assert.deepEqual(two({ paths: ['/a/*'] }, { paths: ['/a/*'], hosts: ['jmap'] }), []);
  assert.deepEqual(two({ paths: ['/a/*', '/a/c'] }, { paths: ['/a/b/*'] }), []);
});

test('a tunnel of a panel that is off is none', () => {
  assert.deepEqual(mistakesOf([{ paths: ['/*'], hosts: ['panel'] }], {}, [['a', '/a']]), []);
});

test('the panel’s name belongs to no other tunnel', () => {
  const wrong = (hosts: object) => {
    const mistakes: Mistake[] = [];
    checkHosts(hostsShape.parse(hosts), publicUrl, source, mistakes);
    return mistakes.length > 0;
  };
  assert.ok(wrong({ panel: 'api.test' }));
  assert.ok(wrong({ panel: 'm.test', mail: 'm.test' }));
  assert.ok(!wrong({ panel: 'p.test', mail: 'm.test', jmap: 'm.test' }));
  assert.ok(!wrong({ panel: 'api.test', api: 'in.test' }));
});

test('host names are names', () => {
  for (const name of ['a', 'mail.example.com', 'x-1.test', '10.0.0.1'])
    assert.ok(hostsShape.safeParse({ mail: name }).success);
  for (const name of ['', 'A.test', 'a.test:80', 'a..b', '-a', 'a.', '*.test', 'http://a'])
    assert.ok(!hostsShape.safeParse({ mail: name }).success, name);
  assert.ok(!hostsShape.safeParse({ mial: 'a' }).success);
});

test('a tunnel that leaves out a site takes no path from it', () => {
  const operations: [string, string][] = [['getThing', '/v1/things/{id}']];
  const on = (more: object, hosts: object) =>
    mistakesOf([{ paths: ['/v1/*'], hosts: ['mail'], ...more }], hosts, operations).length;
  assert.deepEqual([on({}, {}), on({ notOn: ['api'] }, {}), on({}, { mail: 'm.test' })], [1, 0, 0]);
});

test('tunnels that count together have the same bounds', () => {
  const counted = (limits: object, countedAs = 'users') => ({ logins: { countedAs }, limits });
  const both = (...tunnels: object[]) => mistakesOf(tunnels.map((one, index) => ({ paths: [`/p${index}`], ...one })));
  assert.deepEqual(both(counted({ failures: 5 }), counted({ failures: 5 })), []);
  assert.deepEqual(both(counted({ requests: 5 }), counted({ connections: 7 })), [
    'upstreams.a.tunnels.1.logins.countedAs: the tunnels counted as users differ in limits.requests.',
    'upstreams.a.tunnels.1.logins.countedAs: the tunnels counted as users differ in limits.connections.',
  ]);
  assert.deepEqual(both(counted({ failures: 5 }), counted({ failures: 6 }, 'others')), []);
  assert.deepEqual(both(counted({ failures: 5 }), {}, counted({ failures: 6, failuresTotal: 9 })), [
    'upstreams.a.tunnels.2.logins.countedAs: the tunnels counted as users differ in limits.failures.',
    'upstreams.a.tunnels.2.logins.countedAs: the tunnels counted as users differ in limits.failuresTotal.',
  ]);
});
