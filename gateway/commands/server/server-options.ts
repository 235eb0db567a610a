// The options that make a command work on a remote gateway, as in `gateway --server https://… keys list`. Each option has an environment
// variable, because lists of processes show options, and must not show the key.

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type ServerAddress, serverAddressOf } from '../../administration/client/server-address.ts';
import type { HostProcess } from '../../process/host-process.ts';
import { CommandFailure } from '../command-failure.ts';

export interface RemoteServer {
  readonly address: ServerAddress;
  /** Whether the command line names the server; false if only GATEWAY_SERVER does. */
  readonly isNamed: boolean;
  /** Returns the key. Throws CommandFailure if there is none. */
  key(): string;
}

interface GivenOptions {
  server?: string;
  key?: string;
  keyFile?: string;
  insecure?: true;
}

const OPTION_VALUES: Readonly<Record<string, 'server' | 'key' | 'keyFile'>> = {
  '--server': 'server',
  '--key': 'key',
  '--key-file': 'keyFile',
};
/** The form of a key, which has to fit into a header. */
const KEY = /^[!-~]{8,8192}$/;
const SOURCES = 'Put it into GATEWAY_KEY, or into a file that --key-file names.';

/** Adds the options to the help text. */
export function addServerOptions(program: Command): void {
  program
    .option('--server <url>', 'work on the remote gateway at this address, by its own contract; or GATEWAY_SERVER')
    .option('--key-file <file>', 'file with the key for it; or GATEWAY_KEY with the key itself')
    .option('--key <key>', 'the key; other users of this machine can read it in the list of processes')
    .option('--insecure', 'send the key to another machine over http, although others can read it on the network')
    // These options apply only before the name of the command, because commands have options with the same names, such as `explain --key`.
    .enablePositionalOptions();
}

/** Takes the options off the front of a command line. Throws CommandFailure. */
export function takeServerOptions(
  words: readonly string[],
  around: Pick<HostProcess, 'environment' | 'complain'>,
): { readonly command: readonly string[]; readonly server: RemoteServer | undefined } {
  const { given, command } = split(words);
  const { GATEWAY_SERVER: fromEnvironment } = around.environment;
  const text = given.server ?? (fromEnvironment || undefined);
  if (text !== undefined) return { command, server: serverOf(text, given, around) };
  if (given.key === undefined && given.keyFile === undefined && given.insecure === undefined)
    return { command, server: undefined };
  throw new CommandFailure(2, 'A key is for a remote gateway: name it with --server or GATEWAY_SERVER.');
}

function split(words: readonly string[]): { readonly given: GivenOptions; readonly command: readonly string[] } {
  const given: GivenOptions = {};
  let at = 0;
  for (; at < words.length; at += 1) {
    const [, name = '', inline] = /^(--[a-z-]+)(?:=(.*))?$/s.exec(words[at] ?? '') ?? [];
    if (name === '--insecure' && inline === undefined) {
      given.insecure = true;
      continue;
    }
    const option = Object.hasOwn(OPTION_VALUES, name) ? OPTION_VALUES[name] : undefined;
    if (option === undefined) break;
    if (inline === undefined) at += 1;
    const value = inline ?? words[at];
    if (value === undefined || value === '') throw new CommandFailure(2, `${name} needs a value.`);
    given[option] = value;
  }
  return { given, command: words.slice(at) };
}

function serverOf(
  text: string,
  { server, key, keyFile, insecure }: GivenOptions,
  { environment, complain }: Pick<HostProcess, 'environment' | 'complain'>,
): RemoteServer {
  if (key !== undefined && keyFile !== undefined) throw new CommandFailure(2, 'Use --key or --key-file, not both.');
  return {
    address: orWrongUsage(() => serverAddressOf(text, insecure === true)),
    isNamed: server !== undefined,
    key() {
      if (key !== undefined) complain(`gateway: --key can be read by other users of this machine. ${SOURCES}\n`);
      const found = key ?? (keyFile === undefined ? environment.GATEWAY_KEY : readKeyFile(keyFile));
      if (found === undefined || found === '') throw new CommandFailure(2, `There is no key for ${text}. ${SOURCES}`);
      // The message does not repeat the value, which may be a key with a mistake.
      if (!KEY.test(found)) throw new CommandFailure(2, 'What is given as a key is none: it has other characters.');
      return found;
    },
  };
}

function orWrongUsage<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new CommandFailure(2, (error as Error).message);
  }
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new CommandFailure(2, `The key file ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
