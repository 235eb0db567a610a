// app.ts and its sections are read from top to bottom: no name is mentioned above the line that makes it, not in a function that runs later
// either. A timer or a callback that runs earlier than expected would find the name uninitialized.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Text of the file in which comments, strings and property names of the form `.name` and `name:` are blank. */
function codeOf(text: string): string {
  const blank = (match: string) => match.replace(/[^\n]/g, ' ');
  return text
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, blank)
    .replace(/'[^'\n]*'/g, blank)
    .replace(/(?<!\.)\.[A-Za-z]\w*/g, blank)
    .replace(/[A-Za-z]\w*\??:/g, blank);
}

/** The bindings in the body of openParts: constants, variables and functions, with the line each is made in. */
function madeIn(lines: readonly string[]): Map<string, number> {
  const made = new Map<string, number>();
  lines.forEach((line, index) => {
    const [, names] = /^ {2}(?:const|let|(?:async )?function) (\{[^}]*\}|\w+)/.exec(line) ?? [];
    for (const name of names?.match(/\w+/g) ?? []) made.set(name, index);
  });
  return made;
}

const sections = globSync('gateway/wiring/sections/*.ts', { cwd: root }).sort();

for (const file of ['gateway/app.ts', ...sections]) {
  it(`${file} uses nothing above the line that makes it`, () => {
    const text = readFileSync(join(root, file), 'utf8');
    const begin = text.search(/^(export )?(async )?function open/m);
    const end = text.indexOf('\n}\n', begin);
    const lines = codeOf(text).slice(begin, end).split('\n');
    const made = madeIn(lines);
    assert.ok(made.size > 0, 'the body is read');
    const early = [...made].flatMap(([name, madeAt]) => {
      const usedAt = lines.findIndex((line) => new RegExp(`(?<![\\w$])${name}(?![\\w$])`).test(line));
      return usedAt < madeAt ? [`${name}: line ${usedAt + 1}, made in line ${madeAt + 1}`] : [];
    });
    assert.deepEqual(early, []);
  });
}
