// What an installation may run: the script of the pinned Node and the project's own, and neither reports anything.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));

describe('the installation', () => {
  const { allowScripts } = read('package.json');
  const { packages } = read('package-lock.json') as {
    packages: Record<string, { hasInstallScript?: true; resolved?: string }>;
  };

  it('has a decision about every package that would run something', () => {
    const running = Object.entries(packages).filter(([path, { hasInstallScript }]) => hasInstallScript && path !== '');
    const names = running.map(([path]) => path.replace(/^.*node_modules\//, '')).sort();
    assert.deepEqual(names, Object.keys(allowScripts).sort());
    assert.deepEqual(allowScripts, { node: true });
  });

  it('has no package that reports installations', () => {
    assert.deepEqual(
      Object.keys(packages).filter((path) => path.includes('@scarf/')),
      [],
    );
  });

  for (const lock of ['package-lock.json', 'bench/package-lock.json', 'test/browser/package-lock.json'])
    it(`names versions and checksums in ${lock}, not where packages were fetched from`, () => {
      const entries: { resolved?: string }[] = Object.values(read(lock).packages);
      assert.deepEqual(
        entries.filter(({ resolved }) => resolved !== undefined),
        [],
      );
    });

  it('has a Node without development packages too, and nothing of benchmarks and browsers', () => {
    const { dependencies, devDependencies } = read('package.json');
    const own = ['bench', 'test/browser'].flatMap((folder) => Object.keys(read(`${folder}/package.json`).dependencies));
    assert.equal(typeof dependencies.node, 'string');
    assert.deepEqual(
      own.filter((name) => name in dependencies || name in devDependencies),
      [],
    );
  });
});
