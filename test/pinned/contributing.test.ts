// CONTRIBUTING.md is true: every path that it names exists, and the kinds of change that it lists touch few files.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const text = readFileSync(`${root}CONTRIBUTING.md`, 'utf8');

/** The most files that one more of these may touch, generated ones included. */
const filesMax = { 'a stage': 6, 'a credential kind': 6, 'a limit store': 5, 'an error code': 5, 'a command': 5 };

const rows = new Map(
  [...text.matchAll(/^\| (an? [a-z ]+?) +\| (.+?) +\|$/gm)].map(([, what = '', touch = '']) => [what, touch]),
);

function pathsIn(touch: string): string[] {
  return [...touch.matchAll(/`([^`\s]*[./][^`\s]*)`/g)].map(([, path = '']) => path);
}

/** Each item of the list is one file; after the semicolon, each path is a generated one. */
function filesOf(touch: string): number {
  const [written = '', generated = ''] = touch.replace(/\([^)]*\)/g, '').split('; ');
  return written.split(', ').length + pathsIn(generated).length;
}

describe('the table of CONTRIBUTING.md', () => {
  it('names paths that exist', () => {
    const paths = [...rows.values()].flatMap(pathsIn);
    assert.ok(paths.length > 15, 'the table is found');
    assert.deepEqual(
      paths.filter((path) => !existsSync(root + path)),
      [],
    );
  });

  for (const [what, most] of Object.entries(filesMax)) {
    it(`has at most ${most} files for ${what}`, () => {
      const touch = rows.get(what) ?? assert.fail('no such row');
      assert.ok(filesOf(touch) <= most, `${filesOf(touch)} files: ${touch}`);
    });
  }
});
