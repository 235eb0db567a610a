// Tries a service that was just added: runs `check` and `upstreams try`, and prints the way to the first request, one that was seen to
// succeed.

import { join } from 'node:path';
import type { Command } from 'commander';
import type { Configuration } from '../../configuration.ts';
import { shownPath } from '../../shared/file-text.ts';
import { isHealthPath } from '../../shared/http/health-path.ts';
import { filledTemplate } from '../../upstream/requests/path.ts';
import type { CommandContext } from '../context.ts';
import { printLine, printText } from '../print.ts';
import { type Answered, statusOf } from '../upstreams/backend.ts';
import { addTry } from '../upstreams/try.ts';
import { EXECUTABLE, exportLines, nextSteps } from './next-steps.ts';
import type { WantedCredential } from './propose-access.ts';
import { contextOf, type Directories, type ProposedService } from './propose-service.ts';
import { runAlso, runCheck } from './run-also.ts';

/** Headers that every client sends by itself. */
const sentByClients = new Set(['accept', 'accept-encoding', 'user-agent', 'host', 'idempotency-key']);

/**
 * Runs `check` and `upstreams try` on the written configuration, and prints the commands up to the first request. Ends the command with
 * exit code 1 if `check` finds a mistake.
 */
export async function tryService(
  context: CommandContext,
  directories: Directories,
  service: ProposedService,
): Promise<void> {
  const { name } = service;
  if (!(await runCheck(context, directories)))
    return context.fail(
      [
        `The document and the entry "${name}" are written. Correct what check names, then run:`,
        ...exportLines(context, directories),
        `  ${EXECUTABLE} check && ${EXECUTABLE} upstreams try ${name}`,
      ].join('\n'),
    );
  printText(context, `\n$ bin/gateway upstreams try ${name}`);
  let answers: readonly Answered[] = [];
  const addTrial = (program: Command, around: CommandContext) =>
    addTry(program, around, (all) => {
      answers = all;
    });
  await runAlso(addTrial, ['try', name, '--mode', 'live'], contextOf(context, directories));
  const around = contextOf(context, directories);
  const configuration = await around.configuration();
  await around.close();
  if (service.credential !== undefined && answers.some(({ status }) => status === 401 || status === 403))
    for (const line of credentialLines(service.name, service.credential, directories)) printLine(context, line);
  const path = firstRequest(answers) ?? firstPath(configuration, name);
  for (const line of await nextSteps(context, directories, configuration, service, path)) printLine(context, line);
}

/** What to do about a service that refuses the gateway, because it asks for a credential. */
function credentialLines(name: string, { asked, secret }: WantedCredential, { config }: Directories): string[] {
  return [
    '',
    `The service asks for ${asked}. To let the gateway send it:`,
    `  1. Uncomment the line "credential:" of ${name} in ${shownPath(join(config, 'upstreams.yaml'))}.`,
    `  2. export ${secret.toUpperCase()}=… before the commands below, or put the value into the file ${secret} of SECRETS_DIR.`,
  ];
}

/** The path of an operation that needs no parameter, if there is one. */
function firstPath({ contracts }: Configuration, name: string): string {
  const own = contracts.operations.filter(({ operation }) => operation.upstream === name);
  const reading = own.filter(({ operation }) => operation.method === 'GET');
  const plain = reading.filter(
    ({ operation, parameters }) => !operation.path.includes('{') && !parameters.some(isRequired),
  );
  return (
    (plain.find(({ operation }) => !isHealthPath(operation.path)) ?? plain[0] ?? reading[0] ?? own[0])?.operation
      .path ?? '/'
  );
}

function isRequired({ value }: { readonly value: unknown }): boolean {
  return (value as { required?: unknown }).required === true;
}

/**
 * Path and query of the successful read to begin with; undefined if none has succeeded. Rather a list than a record whose id was made up,
 * rather either than a health check; rather one with something in it, short enough to read, and asked for in few words.
 */
function firstRequest(answers: readonly Answered[]): string | undefined {
  const rankOf = ({ asked: { entry } }: Answered) =>
    isHealthPath(entry.operation.path) ? 2 : entry.operation.path.includes('{') ? 1 : 0;
  const [first] = answers
    .filter(isFirst)
    .sort(
      (one, other) =>
        rankOf(one) - rankOf(other) ||
        Number(isBare(one)) - Number(isBare(other)) ||
        one.asked.search.length - other.asked.search.length ||
        one.body.length - other.body.length,
    );
  if (first === undefined) return undefined;
  const { entry, pathValues, search } = first.asked;
  return filledTemplate(entry.operation, pathValues) + search;
}

const READABLE_BYTES = 4096;

/** An answer that shows nothing, such as an empty list, or more than a screen holds. */
function isBare({ body }: Answered): boolean {
  return body.length <= 2 || body.length > READABLE_BYTES;
}

/** A request that needs no header, and has an answer to look at. */
function isFirst(answered: Answered): boolean {
  const { asked, body, problem } = answered;
  const status = statusOf(answered);
  const { method, streams } = asked.entry.operation;
  const isAnswered = problem === undefined && status >= 200 && status < 300 && body.length > 0;
  return (
    isAnswered &&
    method === 'GET' &&
    !streams &&
    asked.method === undefined &&
    [...asked.headers.keys()].every((name) => sentByClients.has(name))
  );
}
