// Options that have a meaning only on the machine of the gateway, or only at a remote gateway.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';

/** Longest time that an operation of the contract waits. */
const WAIT_MAX_MS = 15_000;

type GivenOptions = Readonly<Record<string, unknown>>;

/** Adds `--org`. At a remote gateway, the command works on the organization of the acting key without it. */
export function addOrganizationOption(
  command: Command,
  { remote }: Pick<CommandContext, 'remote'>,
  description: string,
): Command {
  if (remote === undefined) return command.requiredOption('--org <organization>', description);
  return command.option('--org <organization>', `${description}; default: the organization of your key`);
}

/** Ends the command if an option was given that has a meaning only at a remote gateway. @param given the values by option */
export function requireRemoteFor({ remote, usage }: CommandContext, given: GivenOptions): void {
  const [name] = namesOf(given);
  if (remote === undefined && name !== undefined) usage(`${name} is for a remote gateway: name it with --server.`);
}

/** Ends the command if an option was given that the contract of a remote gateway lacks. @param sentence why it lacks the option */
export function requireNoRemoteFor({ remote, usage }: CommandContext, given: GivenOptions, sentence: string): void {
  if (remote !== undefined && namesOf(given).length > 0) usage(sentence);
}

/** Ends the command if it is to wait longer than the contract of a remote gateway does. */
export function requireContractWait({ remote, usage }: CommandContext, timeoutMs: number): void {
  if (remote !== undefined && timeoutMs > WAIT_MAX_MS)
    usage(`A remote gateway waits ${WAIT_MAX_MS / 1000} s at most: lower --timeout.`);
}

function namesOf(given: GivenOptions): string[] {
  return Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}
