// Tries a service that was just added. Runs `check` and `upstreams try`, and prints the commands up to the first request, for which it
// chooses a request that has succeeded.

import type { Command } from 'commander';
import type { Configuration } from '../../configuration.ts';
import type { Operation } from '../../exchange/operation.ts';
import { isHealthPath } from '../../shared/http/health-path.ts';
import { filledTemplate } from '../../upstream/path.ts';
import type { CommandContext } from '../context.ts';
import { printLine, printText } from '../print.ts';
import { type BackendAnswer, statusOf } from '../upstreams/backend.ts';
import { addTry } from '../upstreams/try.ts';
import { credentialAt } from '../upstreams/wanted-credential.ts';
import { credentialLines, publicLines, unsentLines } from './access-lines.ts';
import { EXECUTABLE, exportLines, nextSteps } from './next-steps.ts';
import { contextOf, type Directories, type ProposedService } from './propose-service.ts';
import { runAlso, runCheck } from './run-also.ts';

/** Headers that every client sends by itself. */
const SENT_BY_CLIENTS = new Set(['accept', 'accept-encoding', 'user-agent', 'host', 'idempotency-key']);

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
  let answers: readonly BackendAnswer[] = [];
  const addTrial = (program: Command, around: CommandContext) =>
    addTry(program, around, (all) => {
      answers = all;
    });
  await runAlso(addTrial, ['try', name, '--mode', 'live'], contextOf(context, directories));
  const around = contextOf(context, directories);
  const configuration = await around.configuration();
  await around.close();
  const { credential } = service;
  const proving = answers.filter(({ asked }) => asked.entry.operation.provesCredential);
  // Another credential may be refused beside this one, and its remedy is on the pass card.
  const isOfCredential = ({ asked }: BackendAnswer) => {
    const settings = configuration.config.upstreams[name];
    return settings !== undefined && credentialAt(settings, asked.entry)?.kind === credential?.kind;
  };
  const refused = credential === undefined ? [] : answers.filter((one) => isRefusal(one) && isOfCredential(one));
  const first =
    firstRequest(proving.filter((one) => refused.includes(one))) ??
    firstRequest(answers.filter(isSuccess)) ??
    firstPath(configuration, name);
  if (credential !== undefined && (refused.length > 0 || proving.every(({ problem }) => problem !== undefined))) {
    const told = { isAsked: refused.length > 0, isTried: first.operation?.provesCredential === true };
    for (const line of credentialLines(name, credential, directories, told)) printLine(context, line);
  }
  // The pass card says it where the service has refused a request.
  if (credential === undefined && !answers.some(isRefusal))
    for (const line of unsentLines(configuration, service)) printLine(context, line);
  for (const line of publicLines(configuration, service, directories)) printLine(context, line);
  for (const line of await nextSteps(context, directories, configuration, service, first.path))
    printLine(context, line);
}

/** The first request that the printed commands send. */
interface First {
  readonly operation: Operation | undefined;
  /** The path with its query. */
  readonly path: string;
}

/**
 * Chooses a path by the contract alone. It belongs to an operation without required parameters, which needs the service's credential if
 * possible.
 */
function firstPath({ contracts }: Configuration, name: string): First {
  const own = contracts.operations.filter(({ operation }) => operation.upstream === name);
  const reading = own.filter(({ operation }) => operation.method === 'GET');
  const plain = reading.filter(
    ({ operation, parameters }) => !operation.path.includes('{') && !parameters.some(isRequired),
  );
  const first =
    plain.find(({ operation }) => operation.provesCredential && !isHealthPath(operation.path)) ??
    plain.find(({ operation }) => !isHealthPath(operation.path)) ??
    plain[0] ??
    reading[0] ??
    own[0];
  return { operation: first?.operation, path: first?.operation.path ?? '/' };
}

function isRequired({ value }: { readonly value: unknown }): boolean {
  return (value as { required?: unknown }).required === true;
}

/**
 * Chooses a request among the requests that have succeeded; undefined if each needs a header. Prefers lists to single records, whose ids
 * were made up, and both to health checks. Prefers answers with content that fit on a screen, and short URLs.
 */
function firstRequest(answers: readonly BackendAnswer[]): First | undefined {
  const rankOf = ({ asked: { entry } }: BackendAnswer) =>
    isHealthPath(entry.operation.path) ? 2 : entry.operation.path.includes('{') ? 1 : 0;
  const [first] = answers
    .filter(isPlainRead)
    .sort(
      (one, other) =>
        rankOf(one) - rankOf(other) ||
        Number(isBare(one)) - Number(isBare(other)) ||
        one.asked.search.length - other.asked.search.length ||
        one.body.length - other.body.length,
    );
  if (first === undefined) return undefined;
  const { entry, pathValues, search } = first.asked;
  return { operation: entry.operation, path: filledTemplate(entry.operation, pathValues) + search };
}

const READABLE_BYTES = 4096;

/** Whether an answer is empty, such as an empty list, or longer than a screen. */
function isBare({ body }: BackendAnswer): boolean {
  return body.length <= 2 || body.length > READABLE_BYTES;
}

function isPlainRead({ asked: { entry, method, headers } }: BackendAnswer): boolean {
  const { method: declared, streams } = entry.operation;
  return (
    declared === 'GET' &&
    !streams &&
    method === undefined &&
    [...headers.keys()].every((name) => SENT_BY_CLIENTS.has(name))
  );
}

/** Whether the request has succeeded, and is worth showing. */
function isSuccess(answered: BackendAnswer): boolean {
  const status = statusOf(answered);
  return answered.problem === undefined && status >= 200 && status < 300 && answered.body.length > 0;
}

/** Whether the service has asked for a credential. */
function isRefusal({ status }: BackendAnswer): boolean {
  return status === 401 || status === 403;
}
