// The command `gateway explain --request`: rehearses a request, and sends, spends and stores nothing.

import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Mode } from '../../exchange/caller.ts';
import { exchangeReport } from '../../explain/report.ts';
import { type RehearsedRequest, rehearse } from '../../serving/rehearsal/rehearse.ts';
import type { CommandContext } from '../context.ts';
import { withCounters } from '../here/limits.ts';
import { printJson, printText } from '../print.ts';
import { splitList } from '../read.ts';
import { nearRoute, printReport } from './print.ts';
import { findWho, type WhoFlags } from './who.ts';

export interface RehearseFlags {
  readonly request?: string;
  readonly header?: readonly string[];
  readonly body?: string;
  readonly org?: string;
  readonly key?: string;
  readonly mode?: string;
  readonly scopes?: readonly string[];
  readonly session?: true;
  readonly client?: string;
  readonly json?: true;
}

export async function explainRequest(context: CommandContext, text: string, flags: RehearseFlags): Promise<void> {
  const request = await readRequest(context, text, flags);
  const configuration = await context.configuration();
  const who = await findWho(context, () => context.keyStore(), {
    ...flags,
    mode: modeIn(context, flags.mode),
    ...(flags.scopes === undefined ? {} : { scopes: splitList(flags.scopes) }),
    authorization: headerIn(request.headers, 'authorization'),
    knowsAddress: flags.client !== undefined,
  } as WhoFlags);
  const { report, unknown } = await usageOf(context, who.organization);
  const { line, refusal } = await rehearse(request, {
    configuration,
    readers: who.readers,
    limitUse: report,
    now: context.now,
  }).catch((error: Error) => context.usage(`This cannot be sent as a request: ${error.message}`));
  const exchange = exchangeReport(line);
  if (flags.json) {
    printJson(context, {
      ...exchange,
      would: refusal === undefined ? 'be sent' : 'be refused',
      error: (refusal?.body as { error?: unknown } | undefined)?.error ?? null,
      counters: report?.limits ?? null,
      ...(unknown === undefined ? {} : { counters_unknown: unknown }),
    });
  } else {
    printReport(context, exchange);
    const routes = configuration.contracts.operations.map(({ operation }) => operation.path);
    const meant = nearRoute(line, routes);
    if (meant !== undefined) printText(context, `\nDid you mean ${meant}?`);
    if (unknown !== undefined) printText(context, `\nThe counters are taken for unused: ${unknown}`);
    if (refusal !== undefined) printText(context, `\n${JSON.stringify(refusal.body, null, 2)}`);
  }
  // The exit code tells a script whether the request would pass.
  if (refusal !== undefined) context.fail();
}

async function readRequest(
  { usage, fail }: CommandContext,
  text: string,
  { header = [], body, client }: RehearseFlags,
): Promise<RehearsedRequest> {
  const [, method, target] = /^([A-Za-z]+) +(\S+)$/.exec(text.trim()) ?? [];
  if (method === undefined || target === undefined)
    return usage("Write the request as method and target: --request 'GET /v1/customers?limit=10'.");
  if (client !== undefined && isIP(client) === 0) return usage(`--client "${client}" is not an address.`);
  const headers = header.flatMap((line) => {
    const [, name, value] = /^([^:\s]+):[ \t]*(.*)$/.exec(line) ?? [];
    return name === undefined ? usage(`"${line}" is not a header: write 'Name: value'.`) : [name, value ?? ''];
  });
  if (/^\s*[{[]/.test(body ?? '')) return usage('--body takes the name of a file. Write the body into one.');
  const bytes =
    body === undefined
      ? undefined
      : await readFile(body).catch(({ code }) => fail(`The body ${body} cannot be read (${code}).`));
  return { method: method.toUpperCase(), target, headers, body: bytes, clientAddress: client };
}

function modeIn({ usage }: CommandContext, mode: string | undefined): Mode | undefined {
  if (mode === undefined || mode === 'live' || mode === 'test') return mode;
  return usage('A mode is live or test.');
}

function headerIn(headers: readonly string[], name: string): string | undefined {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return at === -1 ? undefined : headers[at + 1];
}

async function usageOf(context: CommandContext, organization: string | undefined) {
  if (organization === undefined) return {};
  try {
    return { report: await withCounters(context, ({ show }) => show(organization)) };
  } catch (error) {
    return { unknown: (error as Error).message };
  }
}
