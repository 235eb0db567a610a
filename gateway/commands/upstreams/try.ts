// `gateway upstreams try`: tests a service against its contract and the rules of the gateway before it gets traffic.

import type { Command } from 'commander';
import type { UpstreamEntry } from '../../config/upstreams/upstreams-file.ts';
import type { Configuration } from '../../configuration.ts';
import { unenforcedIn } from '../../contract/lint/unenforced.ts';
import type { ContractOperation } from '../../contract/operations/operations.ts';
import type { Mode } from '../../exchange/caller.ts';
import { liesOnSandbox } from '../../upstream/sandbox/sandbox.ts';
import { answersFromContract, isGatewayItself } from '../../upstream/targets/addresses.ts';
import type { CommandContext } from '../context.ts';
import { type Finding, fail, ok } from '../finding.ts';
import { countText, printFinding, printJson, printLine } from '../print.ts';
import { parseCount, unknownName } from '../read.ts';
import { unenforcedLines } from '../unenforced-lines.ts';
import { absenceAt, watchService } from './absence.ts';
import type { Backend, BackendAnswer } from './backend.ts';
import { createCreatedRecords } from './created-records.ts';
import { driftOf } from './drift.ts';
import { errorsOf } from './errors.ts';
import { exercise, isRefused, isSilent } from './exercise.ts';
import { idempotencyOf } from './idempotency.ts';
import { openBackend } from './open.ts';
import { checkConnections, checkHeaders, checkTimes } from './response-checks.ts';
import type { StepRow } from './stalwart/rows.ts';
import { printedRows, stepTable } from './stalwart/table.ts';
import { atUnknownPath } from './unknown-path.ts';

interface TryFlags {
  readonly target?: string;
  readonly mode?: string;
  readonly requests: string;
  readonly org: string;
  readonly writes?: true;
  readonly json?: true;
}

const REQUESTS_MAX = 10_000;

/** Adds the command. @param onAnswers gets the answers to valid requests of a trial */
export function addTry(upstreams: Command, context: CommandContext, onAnswers: OnAnswers = () => undefined): void {
  upstreams
    .command('try')
    .description('send requests for its contracts directly to an upstream, as the gateway would, and print the results')
    .argument('<name>', 'name of an entry in upstreams.yaml')
    .option('--target <url>', 'the address to try; default: the first address of its mode')
    .option('--mode <mode>', 'live or test; default: test if the upstream has a service for it')
    .option('--requests <count>', 'largest number of valid requests to send', '150')
    .option('--org <organization>', 'the organization in whose name requests are sent', 'org_upstreams_try')
    .option(
      '--writes',
      'also send writes, which change only records that the trial creates, and delete or name those; always on for test targets',
    )
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway upstreams try inventory --target http://localhost:3000 --writes')
    .action((name: string, flags: TryFlags) => tryUpstream(context, name, flags, onAnswers));
}

type OnAnswers = (answers: readonly BackendAnswer[]) => void;

async function tryUpstream(
  context: CommandContext,
  name: string,
  flags: TryFlags,
  onAnswers: OnAnswers,
): Promise<void> {
  const requestsMax = parseCount(flags.requests, REQUESTS_MAX);
  if (requestsMax === undefined) return context.usage(`--requests must be a number from 1 to ${REQUESTS_MAX}.`);
  const configuration = await context.configuration('compare');
  const { upstreams } = configuration.config;
  const entry = upstreams[name];
  if (entry === undefined) return context.usage(unknownName('upstream', name, Object.keys(upstreams)));
  const { mode, address } = whereTo(context, name, entry, flags);
  const absence = await absenceAt(address);
  if (absence !== undefined)
    return context.fail(`${name}: ${absence}. Start the service, or name where it is with --target.`);
  const writes = flags.writes === true || mode === 'test' || liesOnSandbox({ live: [address] });
  const { now } = context;
  const settings = context.settings();
  const opened = await openBackend({
    configuration,
    settings,
    secrets: context.secrets(),
    name,
    address,
    mode,
    now,
    organization: flags.org,
  });
  try {
    const { backend } = opened;
    const table = await stepTable({ configuration, secrets: context.secrets(), name, address, backend });
    const trial = { configuration, name, entry, address, writes, requestsMax, now, onAnswers };
    const card = table?.hasLogin === false ? { requests: 0, checks: [] } : await cardOf(backend, trial);
    const requests = card.requests + (table?.requests ?? 0);
    const steps = table && { steps: table.rows };
    const result = { upstream: name, target: address, mode, writes, ...steps, ...card, requests };
    printCard(context, result, flags.json === true);
  } finally {
    opened.close();
  }
}

function whereTo(context: CommandContext, name: string, { live, test }: UpstreamEntry, { target, mode }: TryFlags) {
  const hasTestService = test !== undefined && !test.some(answersFromContract);
  const chosen = mode ?? (target === undefined && hasTestService ? 'test' : 'live');
  if (chosen !== 'live' && chosen !== 'test') return context.usage('--mode must be live or test.');
  if (target !== undefined && !/^https?:\/\/[^/?#\s@]+\/?$/.test(target))
    return context.usage('--target must be http://host:port without a path.');
  const address = target ?? (chosen === 'test' ? test : live)?.[0];
  if (address === undefined) return context.usage(`The upstream "${name}" has no address for ${chosen} keys.`);
  if (isGatewayItself(address))
    return context.usage(`The upstream "${name}" is the gateway itself: there is no service to try.`);
  if (answersFromContract(address))
    return context.usage(`The upstream "${name}" is answered for from its contract: name a service with --target.`);
  return { mode: chosen as Mode, address };
}

interface Trial {
  readonly configuration: Configuration;
  readonly name: string;
  readonly entry: UpstreamEntry;
  readonly address: string;
  readonly writes: boolean;
  readonly requestsMax: number;
  now(): number;
  readonly onAnswers: OnAnswers;
}

interface Card {
  readonly requests: number;
  readonly checks: readonly Finding[];
}

/** Runs a trial. Deletes the records that it has created, even if the trial fails. */
async function cardOf(backend: Backend, trial: Trial): Promise<Card> {
  const { operations } = trial.configuration.contracts;
  const entries = operations.filter(({ operation }) => operation.upstream === trial.name);
  const service = watchService(backend, trial.address);
  const created = createCreatedRecords(service.backend, entries);
  try {
    const { requests, checks } = await checksOf(created.backend, entries, trial);
    const removed = await created.remove();
    return { requests, checks: [...(await service.findings()), ...checks, ...removed] };
  } catch (error) {
    await created.remove();
    throw error;
  }
}

async function checksOf(
  backend: Backend,
  entries: readonly ContractOperation[],
  { configuration, entry, address, writes, requestsMax, now, onAnswers }: Trial,
): Promise<Card> {
  const { schemas } = configuration.contracts;
  const exercised = await exercise({ backend, settings: entry, entries, schemas, writes, requestsMax });
  const { answers } = exercised;
  onAnswers(answers);
  if (isSilent(answers)) return { requests: answers.length, checks: answers.map(silence) };
  const driftFrom = (elsewhere?: BackendAnswer) => [
    ...driftOf(exercised, entry, entries, schemas, now, elsewhere),
    ...unenforcedFindings(entries),
  ];
  const accepted = answers.filter((one) => !isRefused(one));
  const [first] = accepted;
  // The trial stops if the upstream refuses the credential, because more requests show nothing and may lead to a block.
  if (first === undefined || exercised.isStopped) return { requests: answers.length, checks: driftFrom() };
  const provoked: BackendAnswer[] = [];
  const listening: Backend = {
    ...backend,
    async send(asked) {
      const answered = await backend.send(asked);
      provoked.push(answered);
      return answered;
    },
  };
  const elsewhere = await listening.send(atUnknownPath(first.asked));
  const errors = await errorsOf(listening, accepted, elsewhere, schemas);
  const idempotency = await idempotencyOf(listening, entry, accepted, writes);
  const all = [...answers, ...provoked];
  const responses = [
    checkTimes(answers, entry),
    ...checkHeaders(all, backend.proofs(), [address, ...entry.live, ...(entry.test ?? [])]),
    ...checkConnections(all, backend),
  ];
  return { requests: all.length, checks: [...driftFrom(elsewhere), ...errors, ...responses, ...idempotency] };
}

/** Returns the finding about a service that takes connections, and answers nothing. */
function silence({ asked, problem }: BackendAnswer): Finding {
  const { operation } = asked.entry;
  const says = `${operation.id}: ${problem}. The trial ends with this first request, because each other one would wait as long.`;
  return fail('service', says, 'Look whether the service hangs. If it is only slow, raise its timeoutMs.');
}

/** Returns findings about rules that only the service can check. */
function unenforcedFindings(entries: readonly ContractOperation[]): Finding[] {
  const lines = unenforcedLines(unenforcedIn(entries));
  return lines.map((line) => ok('contract', `The gateway does not enforce ${line}.`));
}

interface Result extends Card {
  readonly upstream: string;
  readonly target: string;
  readonly mode: Mode;
  readonly writes: boolean;
  /** Whether the steps of the product's page hold, if the product has a page. */
  readonly steps?: readonly StepRow[];
}

function printCard(context: CommandContext, result: Result, asJson: boolean): void {
  const { steps = [], checks } = result;
  const failed = checks.filter(({ verdict }) => verdict === 'fail').length;
  const unmet = steps.filter(({ verdict }) => verdict === 'does not hold').length;
  if (asJson) printJson(context, { ok: failed + unmet === 0, ...result });
  else {
    printLine(
      context,
      `${result.upstream} at ${result.target}, ${result.mode}, ${countText(result.requests, 'request')}`,
    );
    for (const line of printedRows(steps)) printLine(context, line);
    for (const finding of checks) printFinding(context, finding, 11);
  }
  const problems = [
    ...(unmet > 0 ? [`${unmet} of ${steps.length} steps do not hold`] : []),
    ...(failed > 0 ? [`failed ${failed} of ${checks.length} checks`] : []),
  ];
  if (unmet > 0) context.fail(`${result.upstream}: ${problems.join(', and it ')}.`);
  if (failed > 0) context.fail(`${result.upstream} ${problems.join()}.`);
}
