// Starts store-process.ts: another process on the same store.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

const program = join(import.meta.dirname, 'store-process.ts');

export function startStoreProcess(...args: string[]): ChildProcessByStdio<null, Readable, null> {
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}
