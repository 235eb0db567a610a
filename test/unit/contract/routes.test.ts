import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRoutes, shapeOf } from '../../../gateway/contract/operations/routes.ts';
import { LIMIT_RUNS } from '../limits/scenarios.ts';
import { operationFor } from './operations.ts';

const routesOf = (...paths: string[]) => createRoutes(paths.map((path) => operationFor('GET', path)));
const segments = (path: string) => path.split('/').slice(1);

function found(paths: readonly string[], path: string): [string, ...string[]] | undefined {
  const match = routesOf(...paths).find('GET', segments(path));
  return match && [match.operation.path, ...match.values];
}

test('a literal segment wins over a mixed one, and that over a parameter', () => {
  const paths = ['/jobs/{id}', '/jobs/{id}:cancel', '/jobs/{id}.json', '/jobs/latest'];
  assert.deepEqual(found(paths, '/jobs/latest'), ['/jobs/latest']);
  assert.deepEqual(found(paths, '/jobs/7:cancel'), ['/jobs/{id}:cancel', '7']);
  assert.deepEqual(found(paths, '/jobs/7.json'), ['/jobs/{id}.json', '7']);
  assert.deepEqual(found(paths, '/jobs/7'), ['/jobs/{id}', '7']);
  assert.deepEqual(found(paths, '/jobs/:cancel'), ['/jobs/{id}', ':cancel']);
});

test('decisions are taken from left to right, and taken back when they lead nowhere', () => {
  const paths = ['/a/{x}/c', '/a/b/{y}', '/{any}/b/d', '/a/{x}/{z}/e'];
  assert.deepEqual(found(paths, '/a/b/c'), ['/a/b/{y}', 'c']);
  assert.deepEqual(found(paths, '/a/q/c'), ['/a/{x}/c', 'q']);
  assert.deepEqual(found(paths, '/a/b/d'), ['/a/b/{y}', 'd']);
  assert.deepEqual(found(paths, '/z/b/d'), ['/{any}/b/d', 'z']);
  assert.deepEqual(found(paths, '/a/b/c/e'), ['/a/{x}/{z}/e', 'b', 'c']);
  assert.equal(found(paths, '/a/b/c/f'), undefined);
});

test('several parameters share a segment', () => {
  const paths = ['/compare/{base}...{head}', '/files/{name}.{kind}', '/{a}-{b}-{c}'];
  assert.deepEqual(found(paths, '/compare/main...next'), ['/compare/{base}...{head}', 'main', 'next']);
  assert.deepEqual(found(paths, '/compare/a...b...c'), ['/compare/{base}...{head}', 'a', 'b...c']);
  assert.deepEqual(found(paths, '/files/a.tar.gz'), ['/files/{name}.{kind}', 'a', 'tar.gz']);
  assert.deepEqual(found(paths, '/x-y-z-w'), ['/{a}-{b}-{c}', 'x', 'y', 'z-w']);
  for (const path of ['/compare/...head', '/compare/base...', '/compare/..', '/files/a.', '/x-y', '/x--z'])
    assert.equal(found(paths, path), undefined, path);
});

test('a parameter is never empty, and a trailing slash is another path', () => {
  assert.equal(found(['/jobs/{id}'], '/jobs/'), undefined);
  assert.equal(found(['/jobs'], '/jobs/'), undefined);
  assert.deepEqual(found(['/jobs/'], '/jobs/'), ['/jobs/']);
  assert.deepEqual(found(['/'], '/'), ['/']);
});

test('a parameter that takes slashes gets the paths that no other template matches', () => {
  const rest = (path: string) => ({ ...operationFor('GET', path), restOfPath: 'rest' });
  const others = ['/a/{id}', '/a/{id}/c', '/a/b/d'].map((path) => operationFor('GET', path));
  const routes = createRoutes([...others, ...['/a/{rest}', '/a/{rest}/c', '/{x}/{rest}/{y}.z/c'].map(rest)]);
  const foundAt = (path: string) => {
    const match = routes.find('GET', segments(path));
    return match && [match.operation.path, ...match.values];
  };
  assert.deepEqual(foundAt('/a/1'), ['/a/{id}', '1']);
  assert.deepEqual(foundAt('/a/b/d'), ['/a/b/d']);
  assert.deepEqual(foundAt('/a/b/c'), ['/a/{id}/c', 'b']);
  assert.deepEqual(foundAt('/a/b/c/d'), ['/a/{rest}', 'b/c/d']);
  assert.deepEqual(foundAt('/a/b/d/c'), ['/a/{rest}/c', 'b/d']);
  assert.deepEqual(foundAt('/a/'), ['/a/{rest}', '']);
  assert.deepEqual(foundAt('/a/b/'), ['/a/{rest}', 'b/']);
  assert.deepEqual(foundAt('/b/c/d/e.z/c'), ['/{x}/{rest}/{y}.z/c', 'b', 'c/d', 'e']);
  assert.equal(foundAt('/b/e.z/c'), undefined);
  assert.equal(foundAt('/a'), undefined);
  assert.deepEqual(routes.allowedMethods(segments('/a/b/c/d')), ['GET', 'HEAD', 'OPTIONS']);
});

test('names that mean something in JavaScript are names', () => {
  for (const name of ['__proto__', 'constructor', 'toString'])
    assert.deepEqual(found([`/${name}/{id}`], `/${name}/hasOwnProperty`), [`/${name}/{id}`, 'hasOwnProperty']);
  assert.equal(found(['/a'], '/__proto__'), undefined);
});

test('literals of a template are compared decoded, as requests are', () => {
  assert.deepEqual(found(['/caf%C3%A9/{id}'], '/café/1'), ['/caf%C3%A9/{id}', '1']);
  assert.deepEqual(found(['/100%/{id}'], '/100%/1'), ['/100%/{id}', '1']);
});

test('the allowed methods include the methods of every template that matches', () => {
  const routes = createRoutes([
    operationFor('GET', '/jobs/{id}'),
    operationFor('DELETE', '/jobs/{id}'),
    operationFor('POST', '/jobs/latest'),
    operationFor('PUT', '/files'),
  ]);
  assert.deepEqual(routes.allowedMethods(['jobs', 'latest']), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST']);
  assert.deepEqual(routes.allowedMethods(['jobs', '7']), ['DELETE', 'GET', 'HEAD', 'OPTIONS']);
  assert.deepEqual(routes.allowedMethods(['files']), ['OPTIONS', 'PUT']);
  assert.deepEqual(routes.allowedMethods(['nothing']), []);
});

test('a more general template serves a method that the literal one lacks', () => {
  const routes = createRoutes([operationFor('GET', '/jobs/latest'), operationFor('DELETE', '/jobs/{id}')]);
  assert.equal(routes.find('DELETE', ['jobs', 'latest'])?.operation.path, '/jobs/{id}');
});

/** Tries one template after the other and keeps the best by comparing segment by segment. */
function naive(templates: readonly string[], path: readonly string[]): string | undefined {
  const kind = (segment: string) => (/^\{[^}]*\}$/.test(segment) ? '2' : segment.includes('{') ? '1' : '0');
  const matching = templates.filter((template) => {
    const own = segments(template);
    return own.length === path.length && own.every((segment, i) => matches(segment, path[i] as string));
  });
  const rank = (template: string) =>
    segments(template)
      .map((segment) => kind(segment) + String(99 - shapeOf(segment).length).padStart(2, '0'))
      .join();
  return matching.map((template) => ({ template, rank: rank(template) })).sort((a, b) => (a.rank < b.rank ? -1 : 1))[0]
    ?.template;
}

function matches(segment: string, text: string): boolean {
  if (!segment.includes('{')) return segment === text;
  const escaped = segment.split(/\{[^}]*\}/).map((literal) => literal.replace(/[.:]/g, '\\$&'));
  return new RegExp(`^${escaped.join('(.+)')}$`).test(text);
}

test('agrees with trying every template, over thousands of operations', () => {
  const segment = fc.constantFrom('a', 'b', 'cc', '{p}', '{p}:go', '{p}.x.{q}', '{p}.x');
  const template = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
  const path = fc.array(fc.constantFrom('a', 'b', 'cc', 'd', 'd:go', 'd.x.e', 'd.x', '', '.x'), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(
      fc.uniqueArray(template, { minLength: 1, maxLength: 3000, selector: shapeOf, size: 'max' }),
      fc.array(path, { minLength: 50, maxLength: 50 }),
      (templates, paths) => {
        const routes = createRoutes(templates.map((one) => operationFor('GET', one)));
        for (const one of paths) {
          const found = routes.find('GET', one);
          assert.equal(found?.operation.path, naive(templates, one), one.join('/'));
          if (found) assert.ok(found.values.every((value) => value !== ''));
        }
      },
    ),
    { numRuns: 6 * LIMIT_RUNS },
  );
});

test('the cost of a match does not grow with the number of operations', () => {
  const visited = (count: number) => {
    const routes = routesOf(...Array.from({ length: count }, (_, i) => `/v1/resource${i}/{id}/part${i}`));
    const path = ['v1', `resource${count - 1}`, '7', `part${count - 1}`];
    const rounds = Array.from({ length: 8 }, () => {
      const from = process.cpuUsage();
      for (let i = 0; i < 5000; i++) routes.find('GET', path);
      return process.cpuUsage(from).user;
    });
    // The other threads of the process count, too: compiling and collecting do not disturb every round.
    return Math.min(...rounds);
  };
  visited(10);
  const few = visited(10);
  const many = visited(10_000);
  assert.ok(many < Math.max(few, 1250) * 10, `${few} µs for 10, ${many} µs for 10,000 operations`);
});
