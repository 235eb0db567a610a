// Lets a command that only reads answer from the running gateway while the configuration files have mistakes.

import { ConfigError } from '../shared/mistakes.ts';
import { type AdminClient, complaintOf } from './admin-client.ts';
import type { MachineContext } from './context.ts';
import { countText } from './print.ts';

type Context = Pick<MachineContext, 'adminClient' | 'complain' | 'fail'>;

/**
 * Returns what the files say. If they have mistakes and a gateway runs here, returns what its configuration in force says, and prints that
 * this is so.
 */
export async function orInForce<T>(
  context: Context,
  ofFiles: () => Promise<T>,
  ofGateway: (client: AdminClient) => Promise<T>,
): Promise<T> {
  try {
    return await ofFiles();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const client = context.adminClient();
    if ((await client.ask('GET', '/livez')) === undefined) throw error;
    const mistakes = countText(error.mistakes.length, 'mistake');
    context.complain(
      `The files have ${mistakes} (gateway check): this is of the configuration in force at ${client.origin}.\n`,
    );
    return ofGateway(client);
  }
}

/** Resolves with the body of an answer. Ends the command if the gateway does not answer with 200. */
export async function bodyAt(context: Context, client: AdminClient, path: string): Promise<unknown> {
  const answer = await client.ask('GET', path);
  if (answer?.status === 200) return answer.body;
  return context.fail(
    answer === undefined ? `The gateway at ${client.origin} does not answer.` : complaintOf(client, answer),
  );
}
