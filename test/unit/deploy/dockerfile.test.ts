// A Dockerfile and a .dockerignore are read as a builder reads them, and the two of this repository belong together.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createIgnored, parseDockerfile } from '../../../deploy/image/dockerfile.ts';

const fileAt = (path: string) => new URL(`../../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(fileAt(path), 'utf8');

describe('a Dockerfile', () => {
  it('is read stage by stage', () => {
    const [first, second] = parseDockerfile(
      [
        'FROM node:24 AS build',
        'WORKDIR /app',
        'RUN npm ci \\',
        '  --omit=dev',
        '# a remark',
        'FROM node:24-slim',
        'ENV A=1 B=/data',
        'COPY --from=build /app/node_modules ./node_modules',
        'COPY a.json b.json ./',
        'USER 1000:1000',
        'VOLUME /data',
        'EXPOSE 80 90',
        'HEALTHCHECK --interval=1s --timeout=2s CMD ["node", "-e", "1"]',
        'CMD ["bin/gateway", "start"]',
      ].join('\n'),
    );
    assert.deepEqual([first?.name, first?.base, first?.workDirectory], ['build', 'node:24', '/app']);
    assert.deepEqual(first?.runs, ['npm ci    --omit=dev']);
    assert.deepEqual(second?.environment, { A: '1', B: '/data' });
    assert.deepEqual(second?.copies, [
      { from: 'build', sources: ['/app/node_modules'], target: './node_modules' },
      { from: undefined, sources: ['a.json', 'b.json'], target: './' },
    ]);
    assert.deepEqual([second?.user, second?.volumes, second?.ports], ['1000:1000', ['/data'], [80, 90]]);
    assert.deepEqual(
      [second?.healthCheck, second?.command],
      [
        ['node', '-e', '1'],
        ['bin/gateway', 'start'],
      ],
    );
  });

  for (const [text, complaint] of [
    ['FROM a\nCMD bin/gateway start', /exec form/],
    ['FROM a\nADD b c', /Not understood: ADD/],
    ['WORKDIR /app', /Before the first FROM/],
  ] as const)
    it(`is refused with ${complaint}`, () => assert.throws(() => parseDockerfile(text), complaint));
});

describe('a .dockerignore', () => {
  const ignored = createIgnored('# what stays\n.git\ndocs/*\n!docs/guides\n**/*.log\n');
  for (const [path, expected] of [
    ['.git/config', true],
    ['docs/config.md', true],
    ['docs/guides', false],
    ['docs/guides/errors.md', false],
    ['gateway/main.ts', false],
    ['gateway/deep/a.log', true],
    ['gitignore', false],
  ] as const)
    it(`${expected ? 'keeps out' : 'lets in'} ${path}`, () => assert.equal(ignored(path), expected));
});

describe('the Dockerfile of the gateway', () => {
  const stages = parseDockerfile(read('Dockerfile'));
  const image = stages.at(-1);
  const ignored = createIgnored(read('.dockerignore'));

  it('copies files that exist and that .dockerignore includes', () => {
    const sources = stages.flatMap(({ copies }) => copies).flatMap(({ from, sources }) => (from ? [] : sources));
    assert.ok(sources.includes('gateway'));
    for (const source of sources) {
      assert.ok(existsSync(fileAt(source)), `${source} is not there`);
      assert.ok(!ignored(source), `${source} is kept out`);
    }
  });

  it('brings the newest release of the Node line that package.json pins, and only the packages of production', () => {
    const { dependencies } = JSON.parse(read('package.json'));
    for (const { base } of stages) assert.equal(base, `node:${dependencies.node.split('.')[0]}-bookworm-slim`);
    assert.match(stages[0]?.runs[0] ?? '', /^npm ci --omit=dev /);
  });

  it('runs as a user other than root, by number, and listens on the documented addresses', () => {
    assert.match(image?.user ?? '', /^[1-9]\d*:[1-9]\d*$/);
    assert.deepEqual(image?.ports, [8080, 9090]);
    assert.deepEqual(image?.command, ['bin/gateway', 'start']);
    assert.equal(image?.environment.GATEWAY_DATA, image?.volumes[0]);
    assert.equal(image?.environment.ADMIN_HOST, '127.0.0.1', "the operators' port is not public by default");
  });

  it('keeps out files that an image does not need: history, data, packages of the machine, tests', () => {
    for (const path of ['.git/HEAD', 'data/keys.db', 'node_modules/undici/index.js', 'test/flow', 'bench/run.ts'])
      assert.ok(ignored(path), path);
  });
});
