// `gateway upstreams …`: commands for the services behind the gateway. `retry` lets the running gateways send a refused credential again.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';
import { addTry } from './try.ts';

export function addUpstreamsCommands(program: Command, context: CommandContext): void {
  const upstreams = program
    .command('upstreams')
    .description('try the services behind the gateway, and send a refused credential again');
  addRetry(upstreams, context);
  addTry(upstreams, context);
}

function addRetry(upstreams: Command, context: CommandContext): void {
  upstreams
    .command('retry')
    .description(
      'send requests again to an upstream that has refused the credential, after you have corrected its account',
    )
    .argument('<name>', 'name of an entry in upstreams.yaml')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway upstreams retry mail')
    .action((name: string, { json }: { readonly json?: true }) => retryUpstream(context, name, json === true));
}

async function retryUpstream(context: CommandContext, name: string, asJson: boolean): Promise<void> {
  const upstreams = await context.actions('upstreams');
  const retried = await upstreams.retry(name);
  if (asJson) printJson(context, { upstream: name, retried });
  else if (retried) printLine(context, `The next request to ${name} tries the credential again.`);
  else printLine(context, `${name} has refused no credential; nothing is changed.`);
}
