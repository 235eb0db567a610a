// Parts are opened in this order and closed in reverse, which some of them need: the log is flushed last, operators can ask until then,
// requests have ended before the stores that they use are closed, and the data directory is free for the next gateway after all that.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';

const order = {
  base: ['configuration', 'secrets', 'directory lock'],
  observation: ['log', 'metrics', 'faults', 'dropped connections', 'admin', 'tracing'],
  counters: ['live instances', 'limits', 'failures'],
  upstreams: ['upstream access', 'record locks', 'sandbox', 'examples', 'upstreams'],
  callers: ['streams', 'tunnel streams', 'sessions', 'identity'],
  stores: ['disk', 'replay store', 'deprecated calls', 'usage'],
  certificates: ['acme', 'certificates'],
  traffic: ['listeners', 'tunnels', 'overload', 'serving'],
  administration: ['reload', 'configuration changes'],
};

const read = (path: string) => readFileSync(new URL(`../../gateway/${path}`, import.meta.url), 'utf8');

it('the sections of app.ts are opened in this order', () => {
  const body = read('app.ts').split('async function openParts')[1] ?? '';
  assert.deepEqual(
    [...body.matchAll(/\bopen([A-Z]\w+)\(/g)].map(([, section = '']) => section.toLowerCase()),
    Object.keys(order),
  );
});

/** The bodies of the functions of a file, by their names. */
function bodiesOf(text: string): Map<string, string> {
  const found = text.matchAll(/^(?:export )?(?:async )?function (\w+)\([\s\S]*?^\}/gm);
  return new Map([...found].map(([body, name = '']) => [name, body]));
}

/** The names of the parts that a function adds, in the order of its statements; functions of its file that it calls included. */
function partsAddedBy(name: string, bodies: ReadonlyMap<string, string>): string[] {
  const body = (bodies.get(name) ?? '').replace(/^.*/, '');
  return [...body.matchAll(/parts\.add\(\{\s*name: '([^']+)'|\b(open\w+)\(/g)].flatMap(([, part, called = '']) =>
    part === undefined ? partsAddedBy(called, bodies) : [part],
  );
}

for (const [section, parts] of Object.entries(order)) {
  it(`the parts of the section ${section} are opened in the one order`, () => {
    const bodies = bodiesOf(read(`wiring/sections/${section}.ts`));
    assert.deepEqual(partsAddedBy(`open${section[0]?.toUpperCase()}${section.slice(1)}`, bodies), parts);
  });
}
