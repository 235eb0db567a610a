// `gateway doctor`: checks machine, Redis, secrets, certificates and upstreams. Prints one line per check with a remedy.

import type { Command } from 'commander';
import type { Secrets } from '../../config/secrets.ts';
import type { Settings } from '../../config/settings.ts';
import type { Configuration } from '../../configuration.ts';
import { readLimits } from '../../process/open-files.ts';
import { ConfigError, toSentence } from '../../shared/mistakes.ts';
import type { CommandContext } from '../context.ts';
import { CORRECT_THE_CAUSE, type Finding, fail, findingsOf, type NamedCheck, ok } from '../finding.ts';
import { countText, printFinding, printJson, printLine } from '../print.ts';
import { examineRunning } from '../running-gateway.ts';
import { checkPublicUrl, checkTrustedProxies } from './addresses.ts';
import { checkCertificates } from './certificates.ts';
import { checkDataDirectory, checkStores } from './data.ts';
import { loginChecks } from './login.ts';
import { checkMemory, checkNode, checkOpenFiles, checkWorkers, readMemory } from './machine.ts';
import { checkPort } from './ports.ts';
import { checkRedis } from './redis.ts';
import { examineSecrets } from './secrets.ts';
import { sessionChecks } from './sessions.ts';
import { targetChecks } from './upstreams.ts';

/** Timeout of each check; the checks run in parallel. */
const PATIENCE_MS = 3000;

export function addDoctorCommand(program: Command, context: CommandContext): void {
  program
    .command('doctor')
    .description(
      'check machine, stores, secrets, certificates and upstreams, with remedies (exit code 1 if a check fails)',
    )
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nIt changes nothing, and logs in once to each upstream with a credential. Run it as the account of the gateway, with the\nsame environment.\n\nExample:\n  gateway doctor',
    )
    .action(async ({ json }: { json?: true }) => {
      const findings = await examine(context);
      const isFine = findings.every(({ verdict }) => verdict !== 'fail');
      if (json) printJson(context, { ok: isFine, checks: findings });
      else printFindings(context, findings);
      if (!isFine) context.fail();
    });
}

async function examine(context: CommandContext): Promise<readonly Finding[]> {
  const node = checkNode(process.versions.node);
  let settings: Settings;
  try {
    settings = context.settings();
  } catch (error) {
    return [node, ...mistakesIn('environment', error)];
  }
  const loaded = await load(context);
  const { configuration } = loaded;
  const checks = [
    ...checksOf(context, settings, configuration?.config.gateway.tls !== undefined),
    ...(configuration === undefined ? [] : await checksOfConfiguration(context, settings, configuration)),
  ];
  const found = await Promise.all(checks.map((check) => findingsOf(check, PATIENCE_MS)));
  return [node, ...loaded.findings, ...found.flat()];
}

async function load(context: CommandContext) {
  try {
    const configuration = await context.configuration();
    const { operations, documents } = configuration.contracts;
    const says = `${countText(operations.length, 'operation')} in ${countText(documents.length, 'contract')}.`;
    return { configuration, findings: [ok('configuration', says)] };
  } catch (error) {
    return { configuration: undefined, findings: mistakesIn('configuration', error) };
  }
}

function mistakesIn(check: string, error: unknown): Finding[] {
  if (!(error instanceof ConfigError)) return [fail(check, (error as Error).message, CORRECT_THE_CAUSE)];
  const { mistakes } = error;
  const says = `${countText(mistakes.length, 'mistake')}, the first: ${toSentence(mistakes[0] as (typeof mistakes)[0])}`;
  return [fail(check, says, 'Run "gateway check", which names all of them.')];
}

/** Checks that need no valid configuration. */
function checksOf({ now, secrets }: CommandContext, settings: Settings, isTls: boolean): NamedCheck[] {
  const { host, port, adminHost, adminPort, dataDirectory, redisUrl } = settings;
  const ports = [
    { check: 'port', host, port, isTls, isAdmin: false, variable: 'PORT' },
    { check: 'admin port', host: adminHost, port: adminPort, isTls: false, isAdmin: true, variable: 'ADMIN_PORT' },
  ];
  return [
    ['workers', () => checkWorkers(settings)],
    ['data directory', () => checkDataDirectory(dataDirectory, now)],
    ...ports.map((one): NamedCheck => [one.check, () => checkPort(one)]),
    redisUrl === undefined
      ? ['stores', () => checkStores(dataDirectory)]
      : ['redis', () => checkRedis(redisUrl, now, secrets().read)],
  ];
}

async function checksOfConfiguration(
  context: CommandContext,
  settings: Settings,
  configuration: Configuration,
): Promise<NamedCheck[]> {
  const { config } = configuration;
  const { workers } = settings;
  const secrets = context.secrets();
  return [
    ['open files', () => checkOpenFiles(readLimits(), config, workers)],
    ['memory', () => checkMemory(readMemory(), config, workers)],
    ['publicUrl', () => checkPublicUrl(config)],
    ['trustedProxies', () => checkTrustedProxies(config)],
    ['secrets', () => examineSecrets(configuration, settings, secrets)],
    ['running gateway', () => examineRunning(context)],
    ['certificates', () => checkCertificates(configuration, context.now())],
    ...(await acmeChecks(context, settings, configuration, secrets)),
    ...targetChecks(configuration, secrets, context.now),
    ...loginChecks(configuration, secrets),
    ...sessionChecks(configuration, secrets, context.now),
    ...(await alertReceiverChecks(configuration, secrets)),
  ];
}

/** Returns the checks of alert receivers. Their code and the mail library are loaded only if there are receivers. */
async function alertReceiverChecks(configuration: Configuration, secrets: Secrets) {
  if (configuration.config.gateway.alerts === undefined) return [];
  const { alertChecks } = await import('./alerts.ts');
  return alertChecks(configuration, secrets);
}

/** Returns the checks of `tls.acme`. Their code is loaded only if it is configured, because most gateways order no certificates. */
async function acmeChecks({ now }: CommandContext, settings: Settings, { config }: Configuration, secrets: Secrets) {
  const { tls } = config.gateway;
  const acme = tls?.acme;
  if (tls === undefined || acme === undefined) return [];
  const { rehearsalChecks } = await import('./acme.ts');
  return rehearsalChecks({ tls: { ...tls, acme }, settings, secrets, now });
}

function printFindings(context: CommandContext, findings: readonly Finding[]): void {
  const width = Math.min(44, Math.max(...findings.map(({ check }) => check.length)));
  for (const finding of findings) printFinding(context, finding, width);
  const count = (of: string) => findings.filter(({ verdict }) => verdict === of).length;
  printLine(context, `${count('ok')} ok, ${countText(count('warn'), 'warning')}, ${count('fail')} failed.`);
}
