// Options about the organization of a record: at a remote gateway, a key without `--org` works on its own organization.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';

export function addOrganizationOption(
  command: Command,
  { remote }: Pick<CommandContext, 'remote'>,
  description: string,
): Command {
  if (remote === undefined) return command.requiredOption('--org <organization>', description);
  return command.option('--org <organization>', `${description}; default: that of your key`);
}

/** Ends the command if an option was given that means something at a remote gateway only. @param given by its name */
export function requireRemoteFor({ remote, usage }: CommandContext, given: Readonly<Record<string, unknown>>): void {
  const [name] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (remote === undefined && name !== undefined) usage(`${name} is for a remote gateway: name it with --server.`);
}
