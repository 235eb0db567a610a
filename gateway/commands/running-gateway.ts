// Questions of a command to the gateway that runs on this machine.

import { complaintOf } from './admin-client.ts';
import type { CommandContext } from './context.ts';

/** Ends the command with a sentence unless the gateway answers with 200. */
export async function askRunning({ adminClient, fail }: Pick<CommandContext, 'adminClient' | 'fail'>, path: string) {
  const client = adminClient();
  const answer = await client.ask('GET', path);
  if (answer === undefined) return fail(`No gateway answers at ${client.origin}.`);
  return answer.status === 200 ? answer.body : fail(complaintOf(client, answer));
}
