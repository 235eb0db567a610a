// Runs test files, many in one process: loading the gateway takes longer than the tests of most files. Three processes more than there
// are cores run at a time, because tests also wait; the processes take one file after another from the same list.
//
//   node test/support/run/main.ts [--provide] [folder or file …]     default: all of test/

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  constants,
  globSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { untaken } from './list.ts';
import { neededPrograms } from './programs.ts';

/** Folders of slow files come first, so that all processes end at about the same time. */
const FIRST = ['test/attack/', 'test/flow/'];

/** A process keeps the modules of its files, and with them what their tests leave in variables: some 5 MB each. */
const FILES_MAX = 200;

/** The timeout of a file, and of each test in it. */
const FILE_MS_MAX = 240_000;

/** Returns the test files of a folder, or the named file. */
function filesOf(place: string): string[] {
  if (!statSync(place).isDirectory()) return [place];
  const rank = (file: string) => FIRST.findIndex((folder) => file.startsWith(folder)) >>> 0;
  return globSync(join(place, '**/*.test.ts'))
    .sort()
    .sort((a, b) => rank(a) - rank(b));
}

const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 2 ** 31;

/** Whether files may be kept in memory. On a disk the commits of SQLite wait for it, half a minute in all. */
function hasMemory(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MEMORY_BYTES_MIN;
  } catch {
    return false;
  }
}

/** Makes the directory for the directories of tests. It is removed when this process ends. */
function makeDirectory(): string {
  const directory = mkdtempSync(join(hasMemory() ? MEMORY : tmpdir(), 'gateway-tests-'));
  // A test runs a command as another user, on a directory that it makes in this one.
  chmodSync(directory, 0o711);
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  process.env.TMPDIR = directory;
  return directory;
}

/** Writes the list and gives its path. */
function writeList(directory: string, files: readonly string[]): string {
  const list = join(directory, 'files.json');
  writeFileSync(list, JSON.stringify(files));
  return list;
}

/** Installs missing programs while tests run. Tests that need one wait. If it cannot be installed, all tests end. */
async function provide(directory: string): Promise<void> {
  if (neededPrograms().length === 0) return;
  const mark = join(directory, 'providing');
  writeFileSync(mark, '');
  process.env.TEST_PROVIDING = mark;
  const script = fileURLToPath(new URL('provide.ts', import.meta.url));
  const [code] = await once(spawn(process.execPath, [script], { stdio: 'inherit' }), 'exit');
  rmSync(mark);
  if (code === 0) return;
  ending.abort();
  // Its message stays the last one.
  process.exit(1);
}

/**
 * By itself V8 marks the whole heap of a process again and again, a quarter of the CPU time of the tests: its limit begins low, and bodies
 * of requests, which lie outside of the heap, have a limit of their own. New objects have the space that bin/gateway gives them. Most code
 * runs a few times: with feedback from its first call, V8 finds properties again at the second one.
 */
const FLAGS = [
  ...['--initial-old-space-size=256', '--external-memory-accounted-in-global-limit'],
  ...['--min-semi-space-size=24', '--max-semi-space-size=24'],
  '--no-lazy-feedback-allocation',
];

/**
 * Processes more than cores: many tests wait for a moment or for a process. Each process compiles what it runs: 12 CPU seconds on two
 * cores.
 */
const WAITING = 3;

/** Ends the processes. */
const ending = new AbortController();

function runAll(list: string, files: readonly string[]): void {
  const atOnce = Math.min(files.length, availableParallelism() + WAITING);
  const processes = Math.max(atOnce, Math.ceil(files.length / FILES_MAX));
  const worker = fileURLToPath(new URL('worker.ts', import.meta.url));
  const results = run({
    files: Array.from({ length: processes }, () => worker),
    concurrency: atOnce,
    signal: ending.signal,
    argv: [list, String(FILES_MAX)],
    execArgv: [`--test-timeout=${FILE_MS_MAX}`, ...FLAGS],
  });
  results.on('test:fail', () => {
    process.exitCode = 1;
  });
  results.once('end', () => {
    const left = untaken(list);
    if (left.length === 0) return;
    process.exitCode = 1;
    console.error(`All processes ended before these files were run: ${left.join(', ')}`);
  });
  results.compose(spec).pipe(process.stdout);
}

process.chdir(fileURLToPath(new URL('../../..', import.meta.url)));
process.env.NODE_COMPILE_CACHE ??= join(process.cwd(), 'node_modules/.cache/compile');
const { values, positionals } = parseArgs({ allowPositionals: true, options: { provide: { type: 'boolean' } } });
const files = (positionals.length > 0 ? positionals : ['test']).flatMap(filesOf);
const directory = makeDirectory();
const list = writeList(directory, files);
if (values.provide) void provide(directory);
runAll(list, files);
