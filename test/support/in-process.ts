// Runs command lines in this process, as main.ts does in its own: the same code, without the time that Node takes to start.

import { Readable } from 'node:stream';
import { type CommandContext, type CommandProcess, createCommandContext } from '../../gateway/commands/context.ts';
import { runCommand } from '../../gateway/commands/run.ts';

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface InProcess extends Partial<Pick<CommandProcess, 'now' | 'onTerminal'>> {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The content of standard input. */
  readonly input?: readonly string[];
  /** Replaces parts of the context. */
  readonly adjust?: (context: CommandContext) => CommandContext;
}

export async function runInProcess(words: readonly string[], around: InProcess): Promise<Finished> {
  const { environment, now = Date.now, onTerminal = false, input = [], adjust = (context) => context } = around;
  const printed: string[] = [];
  const complained: string[] = [];
  const ofProcess = (name: string) => (): never => {
    throw new Error(`${name} needs a process of its own.`);
  };
  const context = createCommandContext({
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
