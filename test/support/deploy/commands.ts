// Programs that a test starts and ends: a service, a balancer.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 30_000;

interface RunningCommand {
  stop(): Promise<void>;
}

interface CommandOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** Where it listens once it runs. */
  readonly port: number;
}

/** Starts a program and waits until its port accepts connections. Rejects with its output if it ends before. */
export async function startCommand(command: readonly string[], options: CommandOptions): Promise<RunningCommand> {
  const [file = '', ...args] = command;
  const env = { ...process.env, ...options.environment };
  const child = spawn(file, args, { env, cwd: options.directory, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let failure: Error | undefined;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
  child.on('error', (error) => (failure = error));
  const endsAt = performance.now() + PATIENCE_MS;
  while (!(await accepts(options.port))) {
    const isOver = failure !== undefined || child.exitCode !== null || performance.now() > endsAt;
    if (isOver) {
      child.kill('SIGKILL');
      throw new Error(`${file} does not run (${failure?.message ?? child.exitCode}):\n${output}`);
    }
    await sleep(30);
  }
  return {
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await Promise.race([ended, sleep(5000, undefined, { ref: false })]);
      child.kill('SIGKILL');
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
