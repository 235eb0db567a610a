// Applies each mutation to a copy of the gateway, and searches until a checker finds it. Then runs the gateway as it is under the same
// seeds. `--help` says how.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { optionsOf, positive } from '../options.ts';
import { MUTATIONS } from './list.ts';
import { MutatedCopy } from './mutated-copy.ts';
import type { Mutation } from './mutation.ts';
import type { SearchResult } from './search.ts';
import { foundAfter, tableOf } from './table.ts';

const USAGE = `npm run simulate:mutations -- [options] [text]

Applies small defects to the gateway one by one, and searches until a checker finds each: all of them, or those whose
protocol, defect or file contains the text. Prints the table of docs/reliability.md at the end. Exits with 1 if one is
not found, or if the gateway as it is fails under the same seeds.

  --jobs <number>     searches at a time, default: one for each core
  --hours <number>    simulated hours of a search at most, default 100
  --help              shows this`;

const options = optionsOf('simulate:mutations', () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      jobs: { type: 'string', default: String(availableParallelism()) },
      hours: { type: 'string', default: '100' },
    },
  });
  const [jobs, hoursMax] = [positive('jobs', values.jobs), positive('hours', values.hours)];
  return { isHelp: values.help, jobs, hoursMax, wanted: positionals[0] ?? '' };
});
if (options?.isHelp) console.log(USAGE);
else if (options !== undefined) process.exitCode = await run(options);

interface Options {
  /** A part of the protocol, the defect or the file. */
  readonly wanted: string;
  readonly jobs: number;
  readonly hoursMax: number;
}

/** Returns 1 if a defect was not found, or if there is a fault without one. */
async function run({ wanted, jobs, hoursMax }: Options): Promise<number> {
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
  const copies = Array.from({ length: Math.ceil(jobs) }, () => new MutatedCopy(stopped.signal));
  try {
    const mutations = MUTATIONS.filter(({ protocol, defect, file }) =>
      `${protocol} ${defect} ${file}`.includes(wanted),
    );
    const results = await withEach(copies, mutations, async (copy, mutation) => {
      const result = await copy.with(mutation, () => copy.search(mutation.protocol, hoursMax));
      console.error(`${mutation.protocol}: ${mutation.defect}: ${foundAfter(result)}, ${spent([result])}`);
      return result;
    });
    const table = mutations.map((mutation, at) => [mutation, results[at] as SearchResult] as const);
    console.log(tableOf(table));
    const missed = results.filter(({ found }) => found === undefined).length;
    console.log(`\n${results.length - missed} of ${results.length} found: ${spent(results)}`);
    return missed + (await faultsWithoutDefect(copies, table)) > 0 ? 1 : 0;
  } finally {
    for (const copy of copies) copy.remove();
  }
}

/** Simulates the gateway as it is, for as long as the longest search of each protocol took. Returns in how many it fails. */
async function faultsWithoutDefect(
  copies: readonly MutatedCopy[],
  table: readonly (readonly [Mutation, SearchResult])[],
): Promise<number> {
  const longest = new Map<string, number>();
  for (const [{ protocol }, { hours }] of table) longest.set(protocol, Math.max(longest.get(protocol) ?? 0, hours));
  const results = await withEach(copies, [...longest], (copy, [protocol, hours]) => copy.search(protocol, hours));
  for (const { found } of results)
    if (found !== undefined) console.log(`The gateway as it is fails under ${found.seed}: ${found.sentence}`);
  const faults = results.filter(({ found }) => found !== undefined).length;
  console.log(`The gateway as it is under the same seeds: ${faults} faults, ${spent(results)}`);
  return faults;
}

/** Works on several items at a time, one in each copy. Returns the results in the order of the items. */
async function withEach<Item, Result>(
  copies: readonly MutatedCopy[],
  items: readonly Item[],
  work: (copy: MutatedCopy, item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  await Promise.all(
    copies.map(async (copy) => {
      for (const [at, item] of left) results[at] = await work(copy, item);
    }),
  );
  return results;
}

function spent(results: readonly SearchResult[]): string {
  const sum = (name: 'hours' | 'minutes') => results.reduce((total, result) => total + result[name], 0).toFixed(1);
  return `${sum('hours')} simulated hours, ${sum('minutes')} minutes of a core`;
}
