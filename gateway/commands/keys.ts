// `gateway keys …`: everything about API keys.

import type { Command } from 'commander';
import type { CommandContext } from './context.ts';
import { addCreate } from './keys-create.ts';
import { addExport } from './keys-export.ts';
import { addImport } from './keys-import.ts';
import { addList } from './keys-list.ts';
import { addRevoke } from './keys-revoke.ts';
import { addRotate } from './keys-rotate.ts';

export function addKeysCommands(program: Command, context: CommandContext): void {
  const keys = program.command('keys').description('create, list, rotate, revoke, export and import API keys');
  addCreate(keys, context);
  addList(keys, context);
  addRotate(keys, context);
  addRevoke(keys, context);
  addExport(keys, context);
  addImport(keys, context);
}
