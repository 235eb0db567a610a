// Applies each mutation to a copy of the gateway, and searches until a checker finds it. Prints a line for each, as the table of
// docs/reliability.md has it, and fails if one is not found in time, or if the gateway as it is fails under the same seeds.
//
//   npm run simulate:mutations [-- part of a defect or file]

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MUTATIONS } from './list.ts';
import type { Mutation } from './mutation.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
/** What a search needs. */
const COPIED = ['gateway', 'test/simulation', 'test/unit/limits', 'package.json', 'tsconfig.json'];
const HOURS_MAX = Number(process.env.HOURS_MAX ?? 100);

interface Found {
  readonly seed?: string;
  readonly checker?: string;
  readonly sentence?: string;
  readonly hours: number;
}

const copy = mkdtempSync(join(tmpdir(), 'mutated-gateway-'));
for (const path of COPIED) cpSync(join(root, path), join(copy, path), { recursive: true });
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
const wanted = process.argv[2] ?? '';
const longest = new Map<string, number>();
let failures = 0;
for (const mutation of MUTATIONS) {
  if (!`${mutation.protocol} ${mutation.defect} ${mutation.file}`.includes(wanted)) continue;
  const found = await searchWith(mutation);
  if (found.seed === undefined) failures += 1;
  else longest.set(mutation.protocol, Math.max(longest.get(mutation.protocol) ?? 0, found.hours));
  console.log(rowOf(mutation, found));
}
for (const [protocol, hours] of longest) {
  const { seed, sentence } = await search(protocol, hours);
  if (seed === undefined) continue;
  failures += 1;
  console.log(`The gateway as it is fails under ${seed}: ${sentence}`);
}
rmSync(copy, { recursive: true });
process.exitCode = failures > 0 ? 1 : 0;

async function searchWith({ protocol, file, before, after }: Mutation): Promise<Found> {
  const place = join(copy, file);
  const source = readFileSync(place, 'utf8');
  writeFileSync(
    place,
    source.replace(before, () => after),
  );
  try {
    return await search(protocol, HOURS_MAX);
  } finally {
    writeFileSync(place, source);
  }
}

async function search(protocol: string, hours: number): Promise<Found> {
  const script = join(copy, 'test/simulation/mutations/search.ts');
  const { stdout } = await run(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    script,
    protocol,
    String(hours),
  ]);
  return JSON.parse(stdout) as Found;
}

function rowOf({ protocol, defect, file }: Mutation, { checker, hours }: Found): string {
  const result =
    checker === undefined ? `not found in ${hours.toFixed(0)} h` : `${hours.toFixed(1)} h by \`${checker}\``;
  return `| ${protocol} | ${defect} | \`${file.replace('gateway/', '')}\` | ${result} |`;
}
