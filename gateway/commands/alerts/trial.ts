// `gateway alerts test`: sends a trial message to a receiver, with the configuration and the secrets of this machine.

import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { AlertMessage } from '../../alerts/message.ts';
import { sendTo } from '../../alerts/receiver.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';
import { unknownName } from '../read.ts';

export function addTrial(alerts: Command, context: CommandContext): void {
  alerts
    .command('test')
    .description('send a trial message to a receiver; needs no running gateway (exit code 1 if it is not delivered)')
    .argument('<receiver>', 'name of a receiver in gateway.yaml')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway alerts test pager')
    .action((name: string, { json }: { readonly json?: true }) => test(context, name, json === true));
}

async function test(context: CommandContext, name: string, asJson: boolean): Promise<void> {
  const { config } = await context.configuration();
  const { alerts, publicUrl } = config.gateway;
  const receivers = alerts?.receivers ?? {};
  const settings = Object.hasOwn(receivers, name) ? receivers[name] : undefined;
  if (settings === undefined) return context.usage(unknownName('receiver', name, Object.keys(receivers)));
  const { adminHost, adminPort } = context.settings();
  const link = alerts?.consoleUrl ?? `http://${adminHost}:${adminPort}/`;
  const message = trialOf({ gateway: publicUrl, link, by: context.actor, nowMs: context.now() });
  const { version, now } = context;
  const failure = await sendTo(settings, message, { readSecret: context.secrets().read, version, now }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (asJson)
    printJson(context, {
      receiver: name,
      delivered: failure === undefined,
      message: message.id,
      reason: failure ?? null,
    });
  else if (failure === undefined) printLine(context, `The receiver ${name} has taken the trial ${message.id}.`);
  if (failure !== undefined) context.fail(asJson ? undefined : `The receiver ${name} took no trial: ${failure}.`);
}

interface Trial {
  readonly gateway: string;
  readonly link: string;
  readonly by: string;
  readonly nowMs: number;
}

function trialOf({ gateway, link, by, nowMs }: Trial): AlertMessage {
  const since = new Date(nowMs).toISOString();
  return {
    id: `msg_${randomBytes(12).toString('hex')}`,
    atMs: nowMs,
    isTrial: true,
    gateway,
    notes: [
      {
        id: 'trial',
        state: 'firing',
        severity: 'warning',
        cause: 'This is a trial: nothing has happened.',
        consequence: `Sent by ${by}.`,
        subject: null,
        since,
        until: null,
        figures: {},
        instances: [],
        runbook: null,
        next: null,
        link,
      },
    ],
  };
}
