// Facts of the system about processes and the machine (Linux: /proc): cores, CPU time, memory.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const lastCore = cpus().length - 1;

/** The contestant has a core for itself; the others have one each as far as there are so many, and share the last one otherwise. */
export const CORES = {
  contestant: 0,
  client: Math.min(1, lastCore),
  upstream: Math.min(2, lastCore),
  redis: Math.min(3, lastCore),
} as const;

export function commandExists(command: string): boolean {
  return succeeds('which', command);
}

function succeeds(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** Containers may be kept from some cores. */
const canPin = Object.values(CORES).every((core) => succeeds('taskset', '-c', String(core), 'true'));

const PIN_ATTEMPTS = 5;

/** The command that runs this one on one core; the command itself where the machine does not let us choose. */
export function pinned(command: readonly string[], core: number): readonly string[] {
  return canPin ? ['taskset', '-c', String(core), ...command] : command;
}

/** Moves a process that runs, with all its threads. */
export function pin(pid: number, core: number): void {
  if (!canPin) return;
  // It fails if a thread ends while it is at work.
  for (let attempt = 0; attempt < PIN_ATTEMPTS; attempt += 1) {
    if (succeeds('taskset', '-a', '-p', '-c', String(core), String(pid))) return;
  }
  throw new Error(`Process ${pid} cannot be kept on core ${core}.`);
}

/**
 * Lets a process go before all others of its core, with all its threads: a server that shares the client's core answers as one that has a
 * machine of its own, and not after the client's turn. Where the system does not allow that, nothing changes.
 */
export function hurry(pid: number): void {
  if (CORES.upstream === CORES.client) succeeds('chrt', '--all-tasks', '--fifo', '--pid', '1', String(pid));
}

/** A process and all that it started and that still run, itself first. */
export function processTree(pid: number): number[] {
  if (!existsSync(`/proc/${pid}/task`)) return [];
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) => childrenOf(pid, thread));
  return [pid, ...children.flatMap(processTree)];
}

function childrenOf(pid: number, thread: string): number[] {
  try {
    const pids = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
    return pids.split(' ').filter(Boolean).map(Number);
  } catch {
    // The thread has ended meanwhile; another one has its children now.
    return [];
  }
}

/** User and system time of processes so far, all threads, in microseconds. Counted in clock ticks of 10 ms. */
export function cpuMicrosOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return sum + (Number(fields[11]) + Number(fields[12])) * 10_000;
  }, 0);
}

/** The most memory that each process has had since it began, together, in bytes. */
export function peakBytesOf(pids: readonly number[]): number {
  return statusBytes(pids, 'VmHWM');
}

/** The memory that processes have now, together, in bytes. */
export function residentBytesOf(pids: readonly number[]): number {
  return statusBytes(pids, 'VmRSS');
}

function statusBytes(pids: readonly number[], field: 'VmHWM' | 'VmRSS'): number {
  return pids.reduce((sum, pid) => {
    const [, kibibytes] = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return sum + Number(kibibytes) * 1024;
  }, 0);
}

export interface Machine {
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly pinned: boolean;
  /** With a `+` if files were changed since. */
  readonly commit: string;
  readonly date: string;
}

export function describeMachine(): Machine {
  return {
    node: process.version,
    cpu: cpuModel(),
    cores: cpus().length,
    pinned: canPin,
    commit: commit(),
    date: new Date().toISOString().slice(0, 10),
  };
}

/** With the numbers of its generation, where the system tells them: the model of a virtual machine may name no more than the maker. */
function cpuModel(): string {
  const name = cpus()[0]?.model ?? 'unknown';
  const facts = existsSync('/proc/cpuinfo') ? readFileSync('/proc/cpuinfo', 'utf8') : '';
  const [, family] = /^cpu family\s*: (\d+)$/m.exec(facts) ?? [];
  const [, model] = /^model\s*: (\d+)$/m.exec(facts) ?? [];
  return family === undefined || model === undefined ? name : `${name}, family ${family} model ${model}`;
}

/** A recorded run does not change the tree that the next one measures. */
const CHANGES = ['status', '--porcelain', '--', '.', ':!bench/history.jsonl'];

function commit(): string {
  const options = { cwd: fileURLToPath(new URL('..', import.meta.url)), encoding: 'utf8', stdio: 'pipe' } as const;
  try {
    const hash = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], options).trim();
    return execFileSync('git', CHANGES, options) === '' ? hash : `${hash}+`;
  } catch {
    return 'unknown';
  }
}
