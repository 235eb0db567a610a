// Checks the Node version, the limit of open files, the cores and the memory of the machine.

import { availableParallelism } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Config } from '../../config/load.ts';
import type { Settings } from '../../config/settings.ts';
import { openFilesFor } from '../../process/open-files.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';
import { belowBaseline } from '../node-baseline.ts';

const NODE_MAJOR = 24;
const MEBIBYTE = 1_048_576;

export function checkNode(version: string): Finding {
  const major = Number(version.split('.')[0]);
  const older = belowBaseline(version);
  if (older !== undefined) return warn('node', older, 'Put a newer Node 24 on the PATH: bin/gateway prefers it.');
  if (major === NODE_MAJOR) return ok('node', `Node ${version}.`);
  if (major > NODE_MAJOR) return warn('node', `Node ${version} is newer than the pinned version.`, 'Use Node 24.');
  return fail('node', `Node ${version} is too old.`, 'Run npm ci, which brings the pinned Node, or install Node 24.');
}

/** Checks the limit of open files. @param limits text of /proc/self/limits; undefined on systems without it */
export function checkOpenFiles(limits: string | undefined, config: Config, workers: number): Finding {
  const { says, remedy } = openFilesFor(config, workers, limits);
  return remedy === undefined ? ok('open files', says) : warn('open files', says, remedy);
}

export function checkWorkers({ workers }: Pick<Settings, 'workers'>, cores = availableParallelism()): Finding {
  const says = `WORKERS is ${workers}, and there ${cores === 1 ? 'is 1 core' : `are ${cores} cores`}.`;
  if (workers <= cores) return ok('workers', says);
  return warn('workers', says, `Set WORKERS to ${cores} at most: more take turns on the same cores.`);
}

interface MachineMemory {
  /** The memory limit of this process and its children in bytes; 0 without a limit. */
  readonly allowed: number;
  /** Heap limit of Node in bytes. */
  readonly heap: number;
}

export function readMemory(): MachineMemory {
  const allowed = process.constrainedMemory();
  // Without a limit, some kernels report a number near 2^63.
  return { allowed: allowed > Number.MAX_SAFE_INTEGER / 2 ? 0 : allowed, heap: getHeapStatistics().heap_size_limit };
}

/** Adds the buffered bodies of each process to its heap, because they lie outside it. */
export function checkMemory({ allowed, heap }: MachineMemory, { gateway }: Config, workers: number): Finding {
  const each = heap + gateway.overload.bufferedBytesMax;
  const all = each * workers;
  const inMebibytes = (bytes: number) => `${Math.round(bytes / MEBIBYTE)} MiB`;
  if (allowed === 0)
    return ok('memory', `There is no memory limit; heap and buffered bodies may take ${inMebibytes(all)}.`);
  const says = `The memory limit is ${inMebibytes(allowed)}; heap and buffered bodies (WORKERS is ${workers}) may take ${inMebibytes(all)}.`;
  if (all <= allowed) return ok('memory', says);
  const share = Math.floor((allowed * 0.8) / workers) - gateway.overload.bufferedBytesMax;
  const size = Math.max(128, Math.round(share / MEBIBYTE));
  const remedy = `Set NODE_OPTIONS=--max-old-space-size=${size}, lower overload.bufferedBytesMax, or allow more: a process that takes more is killed.`;
  return warn('memory', says, remedy);
}
