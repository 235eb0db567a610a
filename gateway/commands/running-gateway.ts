// Questions of a command to the gateway that runs on this machine.

import type { CommandContext } from './context.ts';

/** Ends the command with a sentence unless the gateway answers with 200. */
export async function askRunning({ adminClient, fail }: Pick<CommandContext, 'adminClient' | 'fail'>, path: string) {
  const { origin, ask } = adminClient();
  const answer = await ask('GET', path);
  if (answer === undefined) return fail(`No gateway answers at ${origin}.`);
  const { status, body } = answer;
  return status === 200
    ? body
    : fail(`The gateway at ${origin} answered ${status}: ${body.error ?? 'no reason given'}`);
}
