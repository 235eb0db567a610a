// The gateway as operators run it: `bin/gateway` as a child process, on a directory of the test's own.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from './directory.ts';
import { type Finished, runInProcess } from './in-process.ts';

export const executable = fileURLToPath(new URL('../../bin/gateway', import.meta.url));

export interface Running {
  readonly child: ChildProcess;
  readonly port: number;
  readonly adminPort: number;
  /** Returns the output so far: standard error, then the log lines of standard output. */
  output(): string;
  standardOutput(): string;
  standardError(): string;
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

export interface Installation {
  readonly dataDirectory: string;
  readonly environment: Record<string, string>;
  /** Runs a command in this process. `start` runs in a separate process. */
  run(...args: string[]): Promise<Finished>;
  /** Runs a command in a separate process. */
  spawn(...args: string[]): Promise<Finished>;
  /**
   * @param whileStarting gets the process before it serves
   * @param file takes standard output, in place of a pipe
   */
  start(whileStarting?: (child: ChildProcess) => void, flags?: string[], file?: string): Promise<Running>;
  remove(): void;
}

export function createInstallation(environment: Record<string, string> = {}): Installation {
  const directory = temporaryDirectory();
  const all = {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    GATEWAY_DATA: join(directory, 'data'),
    ...environment,
  };

  function run(...args: string[]): Promise<Finished> {
    return args[0] === 'start' ? runProcess(...args) : runInProcess(args, { environment: all });
  }

  function runProcess(...args: string[]): Promise<Finished> {
    return new Promise((resolve) => {
      execFile(executable, args, { env: all }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
      });
    });
  }

  async function start(
    whileStarting?: (child: ChildProcess) => void,
    flags: string[] = [],
    file?: string,
  ): Promise<Running> {
    const output = file === undefined ? 'pipe' : openSync(file, 'w');
    const child = spawn(executable, ['start', ...flags], { env: all, stdio: ['ignore', output, 'pipe'] });
    if (typeof output === 'number') closeSync(output);
    whileStarting?.(child);
    const printed = { output: '', error: '' };
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const ready = await new Promise<RegExpExecArray | undefined>((resolve) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        printed.output += chunk;
      });
      child.stderr?.on('data', (chunk: Buffer) => {
        printed.error += chunk;
        const found =
          /gateway +https?:\/\/[^:]+:(\d+)[\s\S]*health +http:\/\/[^:]+:(\d+)[^\n]*\n(?:[\s\S]*curl [^\n]*\n)?/.exec(
            printed.error,
          );
        if (found) resolve(found);
      });
      child.once('exit', () => resolve(undefined));
    });
    const standardOutput = () => (file === undefined ? printed.output : readFileSync(file, 'utf8'));
    const everything = () => printed.error + standardOutput();
    if (!ready) throw new Error(`The gateway did not start:\n${everything()}`);
    return {
      child,
      port: Number(ready[1]),
      adminPort: Number(ready[2]),
      output: everything,
      standardOutput,
      standardError: () => printed.error,
      async stop() {
        child.kill('SIGTERM');
        return ended;
      },
    };
  }

  return {
    dataDirectory: all.GATEWAY_DATA,
    environment: all,
    run,
    spawn: runProcess,
    start,
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }),
  };
}
