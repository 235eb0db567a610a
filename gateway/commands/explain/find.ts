// Finds the log lines of an exchange in access logs, or in the memory of the running gateway.

import type { LogLine } from '../../explain/log-line.ts';
import type { AdminClient } from '../admin-client.ts';
import type { CommandContext } from '../context.ts';
import { nextLines, openLines } from '../log-lines.ts';

/** Finds exchanges with this id, or otherwise with this X-Request-Id of the client, in the order of the logs. `-` is standard input. */
export async function findInLogs(
  context: Pick<CommandContext, 'input' | 'fail'>,
  paths: readonly string[],
  id: string,
): Promise<LogLine[]> {
  const named: LogLine[] = [];
  const ofClient: LogLine[] = [];
  for (const path of paths) {
    const log = await openLines(context, path);
    for (;;) {
      const { value, done } = await nextLines(context, log);
      if (done === true) break;
      // Parses only lines that contain the id, because a log may have millions of lines.
      for (const line of (value as readonly string[]).filter((text) => text.includes(id))) {
        const entry = exchangeIn(line);
        if (entry?.request_id === id) named.push(entry);
        else if (entry?.client_request_id === id) ofClient.push(entry);
      }
    }
  }
  return named.length > 0 ? named : ofClient;
}

/** Returns undefined if no gateway answers. */
export async function findInGateway({ ask }: AdminClient, id: string): Promise<LogLine[] | undefined> {
  const answer = await ask('GET', `/exchanges/${encodeURIComponent(id)}`);
  if (answer === undefined) return undefined;
  return Array.isArray(answer.body.exchanges) ? (answer.body.exchanges as LogLine[]) : [];
}

function exchangeIn(line: string): LogLine | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null) return undefined;
    return 'msg' in value && value.msg === 'exchange' ? (value as LogLine) : undefined;
  } catch {
    return undefined;
  }
}
