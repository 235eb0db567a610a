// The rules of imports: one folder is one concern, libraries belong to one folder, the environment to one file.

import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The files and folders that hold several concerns together, so they may see them all. Each imports only what stands after it. */
const above = [
  'gateway/main.ts',
  'gateway/commands/',
  'gateway/workers/',
  'gateway/process/',
  'gateway/app.ts',
  'gateway/wiring/',
  'gateway/administration/',
  'gateway/serving/',
  'gateway/configuration.ts',
  'gateway/pipeline.ts',
];
/** What the concerns share, in the same order. */
const shared = [
  'gateway/exchange/trail.ts',
  'gateway/exchange/exchange.ts',
  'gateway/exchange/notes.ts',
  'gateway/catalogue/log-fields.ts',
  'gateway/catalogue/upstream-failure.ts',
  'gateway/catalogue/errors.ts',
  'gateway/catalogue/capabilities.ts',
  'gateway/catalogue/capability.ts',
  'gateway/catalogue/catalogue-entry.ts',
  'gateway/exchange/downstream.ts',
  'gateway/exchange/answer-check.ts',
  'gateway/exchange/findings.ts',
  'gateway/exchange/operation.ts',
  'gateway/exchange/caller-memory.ts',
  'gateway/exchange/caller.ts',
  'gateway/stages.ts',
  'gateway/http1/',
  'gateway/sockets/',
  'gateway/redis/',
  'gateway/shared/',
  'gateway/config/parts.ts',
];

/** Their layers are those of their files, which are listed one by one. */
const ofFiles = ['gateway/exchange/', 'gateway/catalogue/'];
/** Each other folder. */
const concerns = readdirSync(join(root, 'gateway'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && ![...above, ...shared, ...ofFiles].includes(`gateway/${entry.name}/`))
  .map(({ name }) => `gateway/${name}/`);

/** The schemas of their settings, which those of config/ list. */
const settings = concerns.map((concern) => `${concern}settings.ts`);

/** Libraries and the places that may know them. */
const libraries: Record<string, readonly string[]> = {
  '@prometheus-io/client': ['gateway/observe/'],
  '@redocly/openapi-core': ['gateway/contract/'],
  '@scalar/openapi-upgrader': ['gateway/contract/'],
  ajv: ['gateway/contract/'],
  'ajv-formats': ['gateway/contract/'],
  diff: ['gateway/config/differences.ts'],
  commander: ['gateway/main.ts', 'gateway/commands/'],
  express: ['gateway/edge/', 'gateway/observe/admin/'],
  'http-proxy-middleware': ['gateway/tunnel/'],
  ioredis: ['gateway/redis/'],
  jose: ['gateway/auth/', 'gateway/sessions/provider/', 'sandbox/'],
  'lru-cache': ['gateway/auth/', 'gateway/limits/', 'gateway/portal/', 'gateway/sessions/'],
  marked: ['gateway/portal/'],
  nodemailer: ['gateway/alerts/email.ts'],
  'openapi-backend': ['gateway/contract/'],
  'openid-client': ['gateway/sessions/provider/'],
  pino: ['gateway/observe/'],
  'pino-http': ['gateway/observe/'],
  re2js: ['gateway/contract/'],
  ws: ['sandbox/mail/', 'sandbox/files/'],
  yaml: ['gateway/commands/init/', 'gateway/shared/yaml-source.ts', 'gateway/portal/yaml-thread.ts'],
  zod: ['gateway/config/', ...settings],
};

interface Import {
  readonly from: string;
  /** A path below the root, or the name of a package. */
  readonly to: string;
}

const files = globSync(['gateway/**/*.ts', 'sandbox/**/*.ts'], { cwd: root }).sort();
const imports: Import[] = files.flatMap((from) => {
  const text = readFileSync(join(root, from), 'utf8');
  return [...text.matchAll(/(?:^(?:import|export)[^;]*? from |\bimport\()'([^']+)'/gms)].map((match) => {
    const specifier = match[1] as string;
    return { from, to: specifier.startsWith('.') ? normalize(join(dirname(from), specifier)) : specifier };
  });
});

const told = (list: readonly Import[]) => list.map(({ from, to }) => `${from} imports ${to}`);
const isShared = (file: string) => shared.some((place) => file.startsWith(place));
const isAbove = (file: string) => above.some((place) => file.startsWith(place));
const concernOf = (file: string) => concerns.find((concern) => file.startsWith(concern));

/** The files of a concern that capabilities.ts lists: data and pure functions, and the files that they are made of. */
const isCapabilityFile = (file: string) =>
  /^gateway\/\w+\/(capability|codes)\.ts$|^gateway\/upstream\/(headers\/withheld|targets\/addresses)\.ts$/.test(file) &&
  concernOf(file) !== undefined;
const CAPABILITIES = 'gateway/catalogue/capabilities.ts';
/** The lists of capabilities and of settings import these files of the concerns, and no others. */
const isListing = (from: string, to: string) =>
  (from === CAPABILITIES && isCapabilityFile(to)) || (from.startsWith('gateway/config/') && settings.includes(to));

/**
 * The layers from top to bottom. A file imports from its own layer and those below. The capabilities are one layer; below it are the files
 * in which they export their rows.
 */
const layers = [
  ...above.map((place) => (file: string) => file.startsWith(place)),
  (file: string) => concernOf(file) !== undefined && !isCapabilityFile(file),
  ...shared.flatMap((place) => [
    (file: string) => file.startsWith(place),
    ...(place === CAPABILITIES ? [isCapabilityFile] : []),
  ]),
];
const layerOf = (file: string) => layers.findIndex((isOn) => isOn(file));

describe('imports', () => {
  it('go down the layers: each layer imports only lower ones', () => {
    const inGateway = imports.filter(({ from, to }) => from.startsWith('gateway/') && to.startsWith('gateway/'));
    const lost = inGateway.filter(({ from, to }) => layerOf(from) === -1 || layerOf(to) === -1);
    assert.deepEqual(told(lost), [], 'every file has a layer');
    assert.deepEqual(told(inGateway.filter(({ from, to }) => layerOf(from) > layerOf(to))), []);
  });

  it('stay inside a concern, or go to shared modules', () => {
    const wrong = imports.filter(({ from, to }) => {
      if (!to.startsWith('gateway/') || isAbove(from)) return false;
      const concern = concernOf(from);
      return !(isShared(to) || (concern !== undefined && concernOf(to) === concern) || isListing(from, to));
    });
    assert.deepEqual(told(wrong), []);
  });

  it('of the shared files go to shared files only', () => {
    const wrong = imports.filter(
      ({ from, to }) => isShared(from) && to.startsWith('gateway/') && !isShared(to) && !isListing(from, to),
    );
    assert.deepEqual(told(wrong), []);
  });

  it('never cross between the gateway and the sandbox', () => {
    const wrong = imports.filter(
      ({ from, to }) => from.startsWith('sandbox/') !== to.startsWith('sandbox/') && /^(sandbox|gateway)\//.test(to),
    );
    assert.deepEqual(told(wrong), []);
  });

  it('of a library come from the one place that uses it', () => {
    const packageOf = (name: string) =>
      name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : (name.split('/')[0] as string);
    const wrong = imports.filter(({ from, to }) => {
      if (/^(node:|gateway\/|sandbox\/)/.test(to)) return false;
      return !libraries[packageOf(to)]?.some((place) => from.startsWith(place));
    });
    assert.deepEqual(told(wrong), []);
  });

  it('cover every dependency of package.json, so that none is carried for nothing', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object };
    // The pinned Node is what all of them run on.
    const imported = Object.keys(dependencies).filter((name) => name !== 'node');
    assert.deepEqual(imported.sort(), Object.keys(libraries).sort());
  });
});

describe('the process', () => {
  const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
  it('is ended, and its signals and environment are read, in main.ts only', () => {
    const users = files.filter(
      (file) => file.startsWith('gateway/') && /\bprocess\.(env|exit|on)\b/.test(textOf(file)),
    );
    assert.deepEqual(users, ['gateway/main.ts']);
  });

  it('has no upstream named in its code', () => {
    // Where host names are given to sites, `mail` is the name of a site.
    const ofSites = [
      'gateway/config/gateway/hosts.ts',
      'gateway/config/upstreams/tunnel-paths.ts',
      'gateway/config/upstreams/tunnels.ts',
      'gateway/edge/admission/sites.ts',
    ];
    // A command has a table of a product, for entries that name it.
    const ofProducts = /^gateway\/(config\/upstreams\/upstreams-file\.ts$|commands\/upstreams\/stalwart\/)/;
    const naming = files.filter(
      (file) =>
        file.startsWith('gateway/') &&
        !ofSites.includes(file) &&
        !ofProducts.test(file) &&
        /['"`](mail|stalwart)['"`]/.test(textOf(file)),
    );
    assert.deepEqual(naming, []);
  });
});
