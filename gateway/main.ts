// The entry of the process: the command line. No other file uses process.exit, signals or the environment.

import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import './commands/without-undici.ts';
import { createMachineContext } from './commands/context.ts';
import { runCommand } from './commands/run.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

// The reader has closed the pipe, as in `gateway keys list | head`, so nothing more can be written.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`gateway: The output cannot be written (${error.code}).\n`);
  process.exit(1);
});

// Without this listener an error on standard error would end the process. It cannot be reported anywhere else.
process.stderr.on('error', () => undefined);

const LAST_WORK_MS = 100;

const context = createMachineContext({
  version,
  environment: process.env,
  actor: userName(),
  onTerminal: process.stderr.isTTY === true,
  outputOnTerminal: process.stdout.isTTY === true,
  now: Date.now,
  write: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
  input: () => process.stdin,
  exit: end,
  abort: () => void process.kill(process.pid, 'SIGKILL'),
  onSignal(handle) {
    process.on('SIGTERM', handle);
    process.on('SIGINT', handle);
  },
  onReload(handle) {
    process.on('SIGHUP', handle);
  },
  onRestart(handle) {
    process.on('SIGUSR2', handle);
  },
  onCrash(handle) {
    // Node throws an unhandled rejection as an uncaught exception.
    process.on('uncaughtException', handle);
  },
});

const code = await runCommand(process.argv.slice(2), context);
// Code 0 does not end the process, because a gateway that has started continues to run.
if (code !== 0) end(code);

/**
 * Ends the process at once. `process.exit` waits for Node's threads, and a thread that waits for a silent name server or a disk that hangs
 * would keep the process running for long. Therefore another program replaces this one in the same process (`process.execve`), and exits
 * with the same code.
 */
function end(code: number): never {
  if (isAnyThreadBusy()) {
    // Gives work that takes milliseconds, such as a write to the log, time to end.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_WORK_MS);
    process.execve?.('/bin/sh', ['sh', '-c', `exit ${code}`], {});
  }
  process.exit(code);
}

function isAnyThreadBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq') || name.startsWith('GetAddrInfo'));
}

/** Returns the name of the account; its number if the password file has no entry for it, as in many containers. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
