// The opening comment of a file that throws refusals names their codes, and the table of the stages has the status of each.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { REFUSALS } from '../../gateway/catalogue/errors.ts';
import { STAGE_LIST, type StageName } from '../../gateway/stages.ts';

const root = fileURLToPath(new URL('../../gateway/', import.meta.url));
const textOf = (file: string) => readFileSync(root + file, 'utf8');

/** The part of the opening comment from "Throws" on; empty for a comment without it. */
function throwsOf(text: string): string {
  const [opening] = /^(?:\/\/.*\n)+/.exec(text) ?? [''];
  const words = opening.replace(/\n?\/\/ ?/g, ' ');
  return words.includes('Throws ') ? words.slice(words.indexOf('Throws ')) : '';
}

/** Codes that the file throws itself, not by a function of another file. */
const codesIn = (text: string) =>
  [...text.matchAll(/throw new GatewayError\(\s*'(\w+)'/g)].map(([, code = '']) => code);

/** `upstream_*` stands for all codes that begin so. */
function isNamed(code: string, said: string): boolean {
  return (
    new RegExp(`\\b${code}\\b`).test(said) ||
    [...said.matchAll(/(\w+_)\*/g)].some(([, all = '']) => code.startsWith(all))
  );
}

it('a file that names codes that it throws names all of them', () => {
  let files = 0;
  const missing = globSync('**/*.ts', { cwd: root }).flatMap((file) => {
    const text = textOf(file);
    const said = throwsOf(text);
    if (said === '') return [];
    files += 1;
    return codesIn(text)
      .filter((code) => !isNamed(code, said))
      .map((code) => `${file}: ${code}`);
  });
  assert.ok(files > 40, 'the comments are found');
  assert.deepEqual(missing, []);
});

/** The file of each stage whose codes are listed one by one. */
const stageFiles: { readonly [Name in Exclude<StageName, 'forward'>]: string } = {
  admit: 'edge/admission/admit.ts',
  throttle: 'limits/addresses/throttle.ts',
  match: 'contract/match.ts',
  authenticate: 'auth/authenticate.ts',
  authorize: 'auth/authorize.ts',
  limit: 'limits/limit.ts',
  validate: 'contract/validate.ts',
  replay: 'replay/replay.ts',
};

it('the table of the stages has the status of each code that a stage throws', () => {
  for (const [stage, file] of Object.entries(stageFiles)) {
    const text = textOf(file);
    const codes = Object.keys(REFUSALS).filter((code) => isNamed(code, throwsOf(text)));
    assert.ok(codes.length > 0, `${file} names codes`);
    const statuses = codes.map((code) => REFUSALS[code as keyof typeof REFUSALS].status);
    const listed = STAGE_LIST[stage as StageName].refusesWith.match(/\d{3}/g)?.map(Number) ?? [];
    assert.deepEqual(
      [...new Set(statuses)].filter((status) => !listed.includes(status)),
      [],
      stage,
    );
  }
});
