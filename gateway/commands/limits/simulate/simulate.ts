// `gateway limits simulate`: replays an access log under other limits. Changes nothing.

import type { Command } from 'commander';
import type { Configuration } from '../../../configuration.ts';
import { ConfigError, toSentence } from '../../../shared/mistakes.ts';
import type { CommandContext } from '../../context.ts';
import { countText, printJson } from '../../print.ts';
import { createProgress } from '../../progress.ts';
import { printSimulation, simulationToJson } from './print.ts';
import { openLogs } from './read-logs.ts';
import { createSimulation } from './replay.ts';

interface SimulateFlags {
  readonly limits: string;
  readonly log: readonly string[];
  readonly json?: true;
}

export function addSimulate(limits: Command, context: CommandContext): void {
  limits
    .command('simulate')
    .description('replay an access log under other limits, and print the requests that they would have refused')
    .requiredOption('--limits <file>', 'candidate file, in the form of limits.yaml')
    .requiredOption(
      '--log <files...>',
      'access logs, as gateways write them to standard output; may end in .gz; - for standard input',
    )
    .option('--json', 'print one JSON object, with every organization')
    .addHelpText('after', '\nExample:\n  gateway limits simulate --limits candidate.yaml --log access.ndjson')
    .action((flags: SimulateFlags) => simulate(context, flags));
}

async function simulate(context: CommandContext, flags: SimulateFlags): Promise<void> {
  if (new Set(flags.log).size < flags.log.length)
    context.usage('A log is named twice; its requests would count twice.');
  const candidate = await loadChecked(context, flags.limits);
  const { config, contracts } = await loadChecked(context);
  const simulation = createSimulation({
    operations: new Map(contracts.operations.map(({ operation }) => [operation.id, operation])),
    present: config.limits,
    candidate: candidate.config.limits,
  });
  const logs = await openLogs(context, flags.log);
  const progress = createProgress(context, 'replaying');
  try {
    await logs.eachRequest(simulation.replay, () => progress.at(logs.read.lines, logs.fraction()));
  } finally {
    progress.clear();
  }
  const result = simulation.result();
  if (result === undefined) {
    const lines = countText(logs.read.lines, 'line');
    context.fail(`No request that limits have counted is in ${flags.log.join(', ')} (${lines} read).`);
  }
  const simulated = { candidate: flags.limits, logs: flags.log, read: logs.read, result };
  if (flags.json) printJson(context, simulationToJson(simulated));
  else printSimulation(context, simulated);
}

/** Reads a configuration. Ends the command if it has mistakes. @param limitsPath the file that replaces limits.yaml */
async function loadChecked(context: CommandContext, limitsPath?: string): Promise<Configuration> {
  try {
    return await context.configuration('serve', limitsPath);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const mistake of error.mistakes) context.complain(`${toSentence(mistake)}\n`);
    context.fail(`${countText(error.mistakes.length, 'mistake')} in the configuration; nothing was simulated.`);
  }
}
