// `gateway check`: loads the configuration as start does, and prints its mistakes.

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { MANIFEST_FILE, manifestOf } from '../config/digests.ts';
import { misspeltVariables, type Settings } from '../config/settings.ts';
import type { Configuration } from '../configuration.ts';
import { unenforcedIn } from '../contract/lint/unenforced.ts';
import { untimelyMistakes } from '../edge/tls/certificate.ts';
import { metricsBytesOf } from '../observe/metrics/route-series.ts';
import { openSecrets } from '../process/open-key-store.ts';
import { checkStart } from '../process/start-mistakes.ts';
import { operationCountOf, operationCountText } from '../serving/route-rows.ts';
import { type ToolReport, toolReport } from '../serving/tool-report.ts';
import { shownPath } from '../shared/file-text.ts';
import { ConfigError, toSentence } from '../shared/mistakes.ts';
import { machineWarnings } from './check-machine.ts';
import { warningsOf } from './check-warnings.ts';
import type { CommandContext } from './context.ts';
import { changedSincePublished } from './contract/diff-published.ts';
import { type ProviderExamination, providerExaminations } from './doctor/sessions.ts';
import { reportLines } from './mcp.ts';
import { missingTierWarnings } from './missing-tiers.ts';
import { countText, printJson, printLine } from './print.ts';
import { type RefusedByRunning, refusedByRunning } from './running-gateway.ts';
import { unenforcedLines } from './unenforced-lines.ts';

/**
 * The size from which on `check` names the size of `/metrics`, because a scrape of this size every few seconds takes noticeable CPU time of
 * the gateway and of Prometheus.
 */
const METRICS_BYTES_NOTED = 2 ** 20;

const TOOLS_PRINTED_MAX = 64;
const LARGEST_PRINTED = 5;

const MAY_BE_ELSEWHERE = 'Without it the gateway does not start; it may be on another machine.';

export function addCheckCommand(program: Command, context: CommandContext): void {
  program
    .command('check')
    .description('check configuration and contracts, and name every mistake with file, line and remedy')
    .option('--json', 'print one JSON object')
    .option(
      '--strict',
      'count warnings about the files as mistakes (exit code 1); those about this machine stay warnings',
    )
    .option('--write-manifest', 'list the digests of all files in manifest.sha256, if there is no mistake')
    .addHelpText('after', '\nExamples:\n  gateway check\n  GATEWAY_CONFIG=my-config gateway check --json')
    .action((options: CheckOptions) => check(context, options));
}

interface CheckOptions {
  readonly json?: boolean;
  readonly strict?: boolean;
  readonly writeManifest?: boolean;
}

async function check(context: CommandContext, options: CheckOptions): Promise<void> {
  const asJson = options.json === true;
  const ignoresManifest = options.writeManifest === true;
  try {
    const { environment, now } = context;
    const openSecretsOf = (settings: Settings) => openSecrets(context, settings);
    const checked = await checkStart({
      environment,
      purpose: 'check',
      ignoresManifest,
      openSecrets: openSecretsOf,
      now,
    });
    const { settings, secrets, configuration } = checked;
    const nowMs = now();
    const untimely = configuration ? untimelyMistakes(configuration.config, configuration.certificates, nowMs) : [];
    const mistakes = [...untimely, ...checked.mistakes];
    if (configuration === undefined || mistakes.length > 0) throw new ConfigError(mistakes, checked.warnings);
    const inFiles = await warningsOf(configuration, settings.contractsDirectory, nowMs);
    const ofFiles = [...inFiles.sentences, ...misspeltVariables(environment)];
    const ofMachine = [
      ...checked.missing.map((mistake) => `${toSentence(mistake)} ${MAY_BE_ELSEWHERE}`),
      ...checked.oneWay.map(toSentence),
      ...(await missingTierWarnings(settings, configuration.config.limits)),
      ...(await machineWarnings({ settings, config: configuration.config, secrets, nowMs })),
      ...(await providerWarnings(providerExaminations(configuration, secrets, now))),
    ];
    const refused = await refusedByRunning(context);
    const strictMistakes = options.strict === true ? ofFiles.length : 0;
    if (ignoresManifest && strictMistakes === 0) writeManifest(settings, configuration);
    const changed = await changedSincePublished(configuration, settings.contractsDirectory, nowMs);
    printSuccess(context, asJson, settings, configuration, {
      warnings: [...ofFiles, ...ofMachine, ...refused.mistakes],
      refusing: inFiles.refusing,
      strictMistakes,
      refused,
      changed,
      tools: await toolReport(configuration),
    });
    if (strictMistakes > 0 || (refused.mistakes.length > 0 && !refused.needsRestart)) context.fail();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    printMistakes(context, asJson, error);
    context.fail();
  }
}

/**
 * Returns the faults of providers as warnings. These are not mistakes in the files, because a provider may be down, or may be unreachable
 * from this machine.
 */
async function providerWarnings(examinations: readonly ProviderExamination[]): Promise<string[]> {
  const examined = examinations.map(async ({ name, examine }) => {
    // The error of a secret that cannot be read is dropped here, because it is already a mistake.
    const { failures = [], warnings = [] } = (await examine().catch(() => undefined)) ?? {};
    return [...failures, ...warnings].map((says) => `provider ${name}: ${says}`);
  });
  return (await Promise.all(examined)).flat();
}

/** Writes the list of digests. A reader sees the whole new list or the former list, never a part. */
function writeManifest({ configDirectory }: Settings, { files }: Configuration): void {
  const file = join(configDirectory, MANIFEST_FILE);
  writeFileSync(`${file}.draft`, manifestOf(configDirectory, files));
  renameSync(`${file}.draft`, file);
}

/** What is to be said of a configuration without mistakes. */
interface Findings {
  readonly warnings: readonly string[];
  /** The number of warnings about operations or services that refuse every request. */
  readonly refusing: number;
  /** The number of warnings that count as mistakes. */
  readonly strictMistakes: number;
  readonly changed: Awaited<ReturnType<typeof changedSincePublished>>;
  readonly tools: ToolReport | undefined;
  readonly refused: RefusedByRunning;
}

function printSuccess(
  context: CommandContext,
  asJson: boolean,
  { configDirectory }: Settings,
  { config, contracts, version, isListed }: Configuration,
  findings: Findings,
): void {
  const { warnings, strictMistakes, changed, tools, refused } = findings;
  const { operations } = contracts;
  const { operationsMax } = config.gateway.metrics;
  const metricsBytes = metricsBytesOf(
    operations.map(({ operation }) => operation),
    operationsMax,
  );
  const unenforced = unenforcedIn(operations);
  const count = operationCountOf({ config, contracts });
  if (asJson) {
    const counts = {
      operations: count.operations,
      contracts: count.contracts,
      of_gateway: count.ofGateway,
      metrics_bytes: metricsBytes,
    };
    const rest = { mistakes: [], warnings, unenforced, changed_since_published: changed, tools };
    const ok = strictMistakes === 0 && (refused.mistakes.length === 0 || refused.needsRestart);
    printJson(context, { ok, version, manifest: isListed, ...counts, ...rest });
    return;
  }
  for (const warning of warnings) context.write(`warning: ${warning}\n`);
  for (const line of unenforcedLines(unenforced)) printLine(context, `not enforced: ${line}`);
  for (const { contract, breaking, additive } of changed) {
    const counts = `${countText(breaking, 'breaking change')}, ${countText(additive, 'additive change')}`;
    printLine(context, `not published yet: ${contract}: ${counts}. "gateway contract diff" lists them.`);
  }
  const what = `${operationCountText(count)}, from ${shownPath(configDirectory)}`;
  const counted = strictMistakes === 1 ? 'a mistake' : 'mistakes';
  if (strictMistakes > 0)
    printLine(context, `${countText(strictMistakes, 'warning')} in ${what}, counted as ${counted} (--strict).`);
  else printLine(context, verdictOf(what, findings));
  if (tools !== undefined) printTools(context, tools);
  const isByEntry = operations.length > operationsMax;
  if (!isByEntry && metricsBytes < METRICS_BYTES_NOTED) return;
  const kept = isByEntry ? 'by entry, because metrics.operationsMax is lower,' : 'for each of them';
  context.write(`Metrics are kept ${kept} and may take ${(metricsBytes / 2 ** 20).toFixed(1)} MiB of /metrics.\n`);
}

function verdictOf(what: string, { warnings, refusing, refused }: Findings): string {
  const { mistakes, needsRestart } = refused;
  const leave = refusing === 1 ? 'leaves' : 'leave';
  const beside = refusing === 0 ? '' : `, of which ${refusing} ${leave} operations that no request can use`;
  const but = warnings.length === 0 ? '' : `, but ${countText(warnings.length, 'warning')}${beside}`;
  if (mistakes.length === 0) return `No mistakes${but}: ${what}.`;
  const then = needsRestart ? 'takes them when it is started again' : 'refused them';
  return `The files have no mistakes (${what}), but the running gateway ${then}: see the warning.`;
}

/** Prints the tools. If there are many, prints only the largest; `mcp tools` prints all. */
function printTools(context: CommandContext, report: ToolReport): void {
  const { tools } = report;
  const printed = tools.length <= TOOLS_PRINTED_MAX ? tools : largestOf(tools);
  for (const { name, bytes, tokens } of printed)
    printLine(context, `tool ${name}: ${bytes} bytes, about ${tokens} tokens`);
  for (const line of reportLines(report)) printLine(context, line);
}

function largestOf(tools: ToolReport['tools']): ToolReport['tools'] {
  return tools.toSorted((one, other) => other.bytes - one.bytes).slice(0, LARGEST_PRINTED);
}

function printMistakes(context: CommandContext, asJson: boolean, { mistakes, warnings }: ConfigError): void {
  if (asJson) {
    printJson(context, { ok: false, mistakes, warnings: warnings.map(toSentence) });
    return;
  }
  for (const mistake of mistakes) context.complain(`${toSentence(mistake)}\n`);
  for (const warning of warnings) context.complain(`warning: ${toSentence(warning)}\n`);
  const count = countText(mistakes.length, 'mistake');
  const them = mistakes.length === 1 ? 'it' : 'them';
  context.complain(`${count}. Correct ${them} before you start or reload the gateway.\n`);
}
