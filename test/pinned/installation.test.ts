// What may run on the machine of whoever installs this: nothing but the pinned Node, and nobody is told about it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));

describe('the installation', () => {
  const { allowScripts, scarfSettings } = read('package.json');
  const { packages } = read('package-lock.json') as {
    packages: Record<string, { hasInstallScript?: true; resolved?: string }>;
  };

  it('has a decision about every package that would run something', () => {
    const running = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
    const names = running.map(([path]) => path.replace(/^.*node_modules\//, '')).sort();
    assert.deepEqual(names, Object.keys(allowScripts).sort());
    assert.deepEqual(allowScripts, { node: true, '@scarf/scarf': false });
  });

  it('reports to nobody, also with an npm that runs everything', () => {
    assert.deepEqual(scarfSettings, { enabled: false });
  });

  it('names versions and checksums, not where packages were fetched from', () => {
    assert.deepEqual(
      Object.values(packages).filter(({ resolved }) => resolved !== undefined),
      [],
    );
  });
});
