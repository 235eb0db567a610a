// `gateway keys …`: manages API keys.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { addCreate } from './create.ts';
import { addExport } from './export.ts';
import { addImport } from './import.ts';
import { addKeysList } from './list.ts';
import { addRevoke } from './revoke.ts';
import { addRotate } from './rotate.ts';
import { addScopes } from './scopes.ts';

export function addKeysCommands(program: Command, context: CommandContext): void {
  const keys = program.command('keys').description('create, list, change, rotate, revoke, export and import API keys');
  addCreate(keys, context);
  addKeysList(keys, context);
  addScopes(keys, context);
  addRotate(keys, context);
  addRevoke(keys, context);
  addExport(keys, context);
  addImport(keys, context);
}
