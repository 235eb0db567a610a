// The gateway as operators run it: `bin/gateway` as a child process, on a directory of the test's own.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const executable = fileURLToPath(new URL('../../bin/gateway', import.meta.url));

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly port: number;
  readonly adminPort: number;
  /** Everything printed so far, log lines included. */
  output(): string;
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

export interface Installation {
  readonly dataDirectory: string;
  readonly environment: Record<string, string>;
  run(...args: string[]): Promise<Finished>;
  /** @param whileStarting gets the process before it serves */
  start(whileStarting?: (child: ChildProcess) => void): Promise<Running>;
  remove(): void;
}

export function createInstallation(environment: Record<string, string> = {}): Installation {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-process-'));
  const all = {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    GATEWAY_DATA: join(directory, 'data'),
    ...environment,
  };

  function run(...args: string[]): Promise<Finished> {
    return new Promise((resolve) => {
      execFile(executable, args, { env: all }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
      });
    });
  }

  async function start(whileStarting?: (child: ChildProcess) => void): Promise<Running> {
    const child = spawn(executable, ['start'], { env: all, stdio: ['ignore', 'pipe', 'pipe'] });
    whileStarting?.(child);
    let output = '';
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const ready = await new Promise<RegExpExecArray | undefined>((resolve) => {
      const read = (chunk: Buffer) => {
        output += chunk;
        const found =
          /gateway +https?:\/\/[^:]+:(\d+)[\s\S]*operators http:\/\/[^:]+:(\d+)[^\n]*\n(?:[\s\S]*curl [^\n]*\n)?/.exec(
            output,
          );
        if (found) resolve(found);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', () => resolve(undefined));
    });
    if (!ready) throw new Error(`The gateway did not start:\n${output}`);
    return {
      child,
      port: Number(ready[1]),
      adminPort: Number(ready[2]),
      output: () => output,
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
    start,
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }),
  };
}
