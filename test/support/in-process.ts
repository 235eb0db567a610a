// Runs command lines in this process, as main.ts does in its own: the same code, without the time that Node takes to start.

import { Readable } from 'node:stream';
import { createMachineContext, type MachineContext } from '../../gateway/commands/context.ts';
import { runCommand } from '../../gateway/commands/run.ts';
import type { HostProcess } from '../../gateway/process/host-process.ts';

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A gateway that a command line started in this process. */
export interface StartedHere {
  readonly port: number;
  readonly adminPort: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Stops the gateway as SIGTERM does. */
  stop(): Promise<void>;
}

export interface InProcess extends Partial<Pick<HostProcess, 'now' | 'onTerminal'>> {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The content of standard input. */
  readonly input?: readonly string[];
  /** Replaces parts of the context. */
  readonly adjust?: (context: MachineContext) => MachineContext;
}

export async function runInProcess(words: readonly string[], around: InProcess): Promise<Finished> {
  const { environment, now = Date.now, onTerminal = false, input = [], adjust = (context) => context } = around;
  const printed: string[] = [];
  const complained: string[] = [];
  const ofProcess = (name: string) => (): never => {
    throw new Error(`${name} needs a process of its own.`);
  };
  const context = createMachineContext({
    version: 'test',
    environment,
    actor: 'tests',
    onTerminal,
    outputOnTerminal: false,
    now,
    write: (text) => void printed.push(text),
    complain: (text) => void complained.push(text),
    input: () => Readable.from(input),
    exit: ofProcess('exit'),
    abort: ofProcess('abort'),
    onSignal: ofProcess('onSignal'),
    onReload: ofProcess('onReload'),
    onRestart: ofProcess('onRestart'),
    onCrash: ofProcess('onCrash'),
  });
  const code = await runCommand(words, adjust(context));
  return { code, stdout: printed.join(''), stderr: complained.join('') };
}

/** Runs `start`. Resolves with its output and the gateway, or with the exit code only if it refuses. */
export async function tryStartInProcess(
  environment: InProcess['environment'],
  flags: readonly string[] = [],
): Promise<Finished & { readonly started: StartedHere | undefined }> {
  const ended = Promise.withResolvers<void>();
  let end: (() => void) | undefined;
  const adjust = (context: MachineContext): MachineContext => ({
    ...context,
    onReload: () => undefined,
    onCrash: () => undefined,
    onSignal(handle) {
      end = () => handle('SIGTERM');
    },
    exit: (() => ended.resolve()) as () => never,
  });
  const finished = await runInProcess(['start', '--json', ...flags], { environment, adjust });
  if (end === undefined) return { ...finished, started: undefined };
  const [line = '{}'] = /^\{"port".*$/m.exec(finished.stdout) ?? [];
  const ports = JSON.parse(line) as { port: number; admin_port: number };
  const stop = () => {
    end?.();
    return ended.promise;
  };
  const { stdout, stderr } = finished;
  return { ...finished, started: { port: ports.port, adminPort: ports.admin_port, stdout, stderr, stop } };
}

/** Starts a gateway as `gateway start --json` does, but in this process. Throws if it refuses. */
export async function startInProcess(
  environment: InProcess['environment'],
  flags?: readonly string[],
): Promise<StartedHere> {
  const { started, stderr } = await tryStartInProcess(environment, flags);
  if (started === undefined) throw new Error(`The gateway did not start:\n${stderr}`);
  return started;
}
