// docs/reading.md is true: every file exists, an earlier file of its list leads to it by the name given, and no list is longer than a
// reader should have to open.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const sections = readFileSync(`${root}docs/reading.md`, 'utf8').split(/^## /m).slice(1);

/** Most files of a list, by a word of its question. */
const filesMax = { 'unknown API key': 20, 'HTML page': 6, 'log line go': 4, 'with a store': 20, fetched: 14 };

/** The file of the generic functions of the examples. */
const NOTE_KINDS = 'gateway/catalogue/capability.ts';

/** Code alone: a name in a comment leads nowhere. */
const codeOf = (file: string) => readFileSync(root + file, 'utf8').replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
const hasWord = (file: string, word: string) => new RegExp(`\\b${word}\\b`).test(codeOf(file));

describe('docs/reading.md', () => {
  it('names files that exist, also beside its tables', () => {
    const named = [...sections.join('').matchAll(/`((?:gateway|test|bench)\/[\w./-]+\.ts)`/g)].map(
      ([, file = '']) => file,
    );
    assert.ok(named.length > 50);
    assert.deepEqual(
      named.filter((file) => !existsSync(root + file)),
      [],
    );
  });

  it('shows code as its files have it: constants, members, generic functions, and the line before', () => {
    const pieces = [...sections.join('').matchAll(/^```ts\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
      block.split(/^(?=\/\/ (?:gateway|test)\/)/m),
    );
    assert.ok(pieces.length > 6);
    const absent = pieces.flatMap((piece) => {
      const [, file = '', after, name = ''] = /^\/\/ ([\w./-]+\.ts)(?:, (after )?`([^`]+)`)?/.exec(piece) ?? [];
      if (after !== undefined) return codeOf(file).includes(name) ? [] : [`${file}: ${name}`];
      const isDeclared = name === '' || new RegExp(`\\b(const|function|interface) ${name}\\b`).test(codeOf(file));
      const unknown = [...piece.matchAll(/^ {2}(\w+):|\b(\w+)</gm)].filter(([, member, called]) =>
        member === undefined ? !hasWord(NOTE_KINDS, called as string) : !hasWord(file, member),
      );
      return [...(isDeclared ? [] : [name]), ...unknown.map(([text]) => text)].map((text) => `${file}: ${text}`);
    });
    assert.deepEqual(absent, []);
  });

  for (const [words, max] of Object.entries(filesMax)) {
    const [question = '', ...lines] = sections.find((text) => text.split('\n')[0]?.includes(words))?.split('\n') ?? [];
    const rows = lines.flatMap((line) => {
      const [, file, , by] = /^\| `([^`]+)` +\| (.+?) +\| (?:`([^`]+)`)? *\|$/.exec(line) ?? [];
      return file === undefined ? [] : [{ file, by }];
    });

    it(`leads from file to file: ${question}`, () => {
      assert.ok(rows.length > 2, 'the list is found');
      assert.ok(rows.length <= max, `${rows.length} files`);
      const lost = rows.filter(({ file, by }, index) => {
        if (index === 0) return by !== undefined || codeOf(file) === '';
        const before = rows.slice(0, index).map((row) => row.file);
        return by === undefined || !hasWord(file, by) || !before.some((earlier) => hasWord(earlier, by));
      });
      assert.deepEqual(lost, []);
    });
  }
});
