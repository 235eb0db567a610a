// One of the processes that run test files. Each file becomes a test, to which its tests and hooks belong: they run as in a separate
// process.

import './test-scopes.ts';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startCosts } from './costs.ts';
import { awaitTurn } from './first-load.ts';
import { takeFiles } from './list.ts';

// A static import would load it before test-scopes.ts has run.
const { test } = await import('node:test');

/** Sockets and timers that the last tests have just closed may take so long to end. */
const ENDING_MS = 5_000;

const [, , list = '', filesMax] = process.argv;
let running: string | undefined;
process.once('exit', () => {
  if (running !== undefined) console.error(`The process ended during ${running}.`);
});

// Between two files nothing else may be open, and node:test ends when nothing is.
const open = setInterval(() => undefined, 60_000);
const noteEnd = await awaitTurn(list);
for (const file of takeFiles(list, Number(filesMax))) {
  running = file;
  const noteCosts = startCosts(file);
  await test(file, async () => {
    await import(pathToFileURL(resolve(file)).href);
  });
  noteCosts();
  noteEnd();
}
running = undefined;
clearInterval(open);

// The tests have reported by now. A timer that one of them left running delays the end, and is no failure.
setTimeout(() => {
  console.error(`A test left something open: ${process.getActiveResourcesInfo().join(', ')}.`);
  process.exit();
}, ENDING_MS).unref();
