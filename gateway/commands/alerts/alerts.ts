// `gateway alerts …`: what is told to receivers of alerts, silences, and a trial.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { addList } from './list.ts';
import { addSilence } from './silence.ts';
import { addTrial } from './trial.ts';

export function addAlertsCommands(program: Command, context: CommandContext): void {
  const alerts = program.command('alerts').description('show and silence alerts about causes, and try their receivers');
  addList(alerts, context);
  addSilence(alerts, context);
  addTrial(alerts, context);
}
