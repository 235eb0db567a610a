// CONTRIBUTING.md is true: every path that it names exists. For eight kinds of change there are examples in the code: each file that names
// an example is in the list of its kind. A list that names a folder stands for one file of it.

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const text = readFileSync(`${root}CONTRIBUTING.md`, 'utf8');

const rows = new Map(
  text
    .split(/^### /m)
    .slice(1)
    .map((section): [string, string] => {
      const [title = '', ...lines] = section.split(/^## /m, 1).join('').split('\n');
      return [title.toLowerCase(), lines.join('\n')];
    }),
);

/** The list of a kind of change, with that of another kind that it includes. */
function listOf(what: string): string {
  const list = rows.get(what) ?? assert.fail(`no list for ${what}`);
  const [, other] = /^- the files of the list \[(an? .+?)\]/m.exec(list) ?? [];
  return other === undefined ? list : `${listOf(other)}\n${list}`;
}

function pathsIn(touch: string): string[] {
  return [...touch.matchAll(/`([^`\s]*[./][^`\s]*)`/g)].map(([, path = '']) => path);
}

/** Whether a list names the file: by its path, by a folder, or by the name that such a file has in every folder. */
function isNamedBy(file: string, path: string): boolean {
  if (!path.includes('/')) return file.startsWith('gateway/') && file.split('/').slice(2).join('/') === path;
  return file === path || (path.endsWith('/') && file.startsWith(path));
}

interface Example {
  readonly kind: string;
  readonly named: RegExp;
  readonly own: RegExp;
}

/**
 * Examples of each kind of change that are in the code already. `named` finds the files that name the example: a file with a list of all
 * things of the kind is one of them, and has to be listed. `own` are the files of the example itself, and files that use it for what it
 * does.
 */
const examples: Readonly<Record<string, Example>> = {
  authorize: {
    kind: 'a stage',
    named: /'authorize'|\bauthorize:|\.authorize\b/,
    // Its codes are counted, and its fields explained.
    own: /^gateway\/(auth\/(authorize|capability)|observe\/metrics\/exchange-metrics|serving\/agent-admission)\.ts$/,
  },
  // It spends, and adds to the exchange; its stand-in reads a store.
  limit: {
    kind: 'a stage',
    named:
      /^ {2}limit: \{$|\bsteps\.limit\b|\bcreateLimit\b|\bCounted(?=[,)>]| \{)|\/, 'limit'\]|\brehearse\(|\bcreateReadOnlyStore\(/m,
    // They count something else, or rehearse whatever the stages are.
    own: /^gateway\/(limits\/|(observe\/metrics\/duration-metrics|serving\/rehearsal\/rehearse)\.ts)/,
  },
  replay: {
    kind: 'a stage with a store',
    named:
      /\breplay\b(?=[:(']|,$)|'[./]*\/replay\/|\bReplayStore\b|\breplayStore\b|\breplayed: '|'idempotency' \||\bidempotency(: \(| = \{|\.state)/m,
    // A new stage comes before `replay`, so wiring/serving.ts does not make it.
    own: /^gateway\/(replay\/|commands\/limits\/simulate\/\w+\.ts$|wiring\/serving\.ts$)/,
  },
  expectation_failed: {
    kind: 'an error code',
    named: /'?expectation_failed\b/,
    own: /^gateway\/edge\/admission\/admit\.ts$/,
  },
  basic: {
    kind: 'a credential kind',
    named: /\bbasic: z\b|kind: 'basic'|\.kind === 'basic'|\bcredential\.user\b/,
    // The others take user name and password alone.
    own: /^gateway\/(wiring\/upstream-access|commands\/upstreams\/stalwart\/table)\.ts$/,
  },
  // The kind `basic` needs no fetch: these files would renew it or end it.
  'basic, if it were fetched': {
    kind: 'a fetched credential',
    named:
      /\buntilReady\b|\bnew Credential\b|\bparseCredential\b|\bcredential\?*\.header\b|\bopenUpstreamAccess\b|\btype CredentialState =|Record<CredentialState\b/,
    // They wait already, or take user name and password alone.
    own: /^gateway\/(upstream\/(handshake|send-judged|attempts\/judged-attempt)|commands\/upstreams\/stalwart\/table)\.ts$/,
  },
  createRedisCounterStore: {
    kind: 'a limit store',
    named: /\bcreateRedisCounterStore\b/,
    own: /^gateway\/limits\/counters\/redis\/redis-counter-store\.ts$/,
  },
  addRoutesCommand: {
    kind: 'a command',
    named: /\baddRoutesCommand\b/,
    own: /^gateway\/commands\/routes\.ts$/,
  },
  retry_budget_spent: {
    kind: 'a log field',
    named: /\bretry_budget_spent\b|\bretryBudgetSpent\b/,
    own: /^gateway\/(upstream\/attempts\/retry-plan|observe\/metrics\/upstream-metrics)\.ts$/,
  },
};

const sources = globSync(['gateway/**/*.{ts,js}', 'bench/profile/*.ts'], { cwd: root }).map((file) => {
  const code = readFileSync(root + file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  return { file, code };
});

describe('the lists of CONTRIBUTING.md', () => {
  it('names paths that exist', () => {
    const paths = [...rows.values()].flatMap(pathsIn);
    assert.ok(paths.length > 50, 'the lists are found');
    assert.deepEqual(
      paths.filter((path) => !existsSync(root + path) && globSync(`gateway/*/${path}`, { cwd: root }).length === 0),
      [],
    );
  });

  for (const [example, { kind, named, own }] of Object.entries(examples)) {
    it(`lists enough files for ${kind} such as ${example}`, () => {
      const listed = pathsIn(listOf(kind));
      const naming = sources.filter(({ code }) => named.test(code)).map(({ file }) => file);
      assert.ok(
        naming.some((file) => own.test(file)),
        'the example is found',
      );
      assert.ok(
        naming.some((file) => listed.some((path) => isNamedBy(file, path))),
        'the list is used',
      );
      const isListed = (file: string) => listed.some((path) => isNamedBy(file, path));
      for (const folder of listed.filter((path) => path.startsWith('gateway/') && path.endsWith('/'))) {
        const inside = naming.filter((file) => file.startsWith(folder) && !own.test(file) && !listed.includes(file));
        assert.ok(inside.length <= 1, `more than one file of ${folder}: ${inside}`);
      }
      assert.deepEqual(
        naming.filter((file) => !own.test(file) && !isListed(file)),
        [],
      );
    });
  }
});
