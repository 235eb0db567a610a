// Writes the last lines of `gateway init --from`, with the commands up to the first request, and the addresses of the documentation and of
// the account page.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Configuration } from '../../configuration.ts';
import { ACCOUNT_SCOPES } from '../../shared/contracts/scopes.ts';
import { shownPath } from '../../shared/file-text.ts';
import { directoryLockProblem } from '../../shared/stores/sqlite.ts';
import type { CommandContext } from '../context.ts';
import { contextOf, type Directories, type ProposedService } from './propose-service.ts';

export const EXECUTABLE = shownPath(fileURLToPath(new URL('../../../bin/gateway', import.meta.url)));

/** The organization for the first keys. */
const FIRST = 'org_first';

/** Returns the lines. @param path path and query of the first request */
export async function nextSteps(
  context: CommandContext,
  directories: Directories,
  configuration: Configuration,
  { name, entry: { security } }: ProposedService,
  path: string,
): Promise<string[]> {
  const { dataDirectory, redisUrl } = context.settings();
  const exports = exportLines(context, directories);
  const known = redisUrl === undefined ? await knownBefore(contextOf(context, directories)) : NOTHING_KNOWN;
  const isRunning = redisUrl === undefined && directoryLockProblem(dataDirectory) !== undefined;
  const isServed = (scope: string) => configuration.contracts.scopes.has(scope);
  // `keys create` refuses a scope that no operation needs, such as the scope for writing at a service that only reads.
  const scopes = [...security.read, ...security.write].filter(isServed);
  const hasAccount = ACCOUNT_SCOPES.every(isServed);
  const { publicUrl, portal } = configuration.config.gateway;
  // The sentences between the commands contain no character that is special in a shell, because operators may paste all lines at once.
  return [
    '',
    ...(isRunning ? [runningText(shownPath(dataDirectory), exports.length > 0)] : []),
    'The first request:',
    ...exports,
    ...(isRunning && exports.length === 0 ? [] : [`  ${EXECUTABLE} start &`]),
    ...(known.hasFirst ? [] : [`  ${EXECUTABLE} orgs create --id ${FIRST} --name First --tier standard`]),
    `  KEY=$(${newKey('live', `Live key for ${name}`, scopes)})`,
    // The command retries, because the gateway may still be starting, but not for long, because the service may be down.
    `  curl -i --retry 30 --retry-delay 1 --retry-max-time 15 --retry-connrefused ${shellWord(publicUrl + path)} -H "Authorization: Bearer $KEY"`,
    ...(known.hasKeys ? [formerKeysText(scopes)] : []),
    'The documentation, with a test key that gets examples of the contract:',
    `  TEST_KEY=$(${newKey('test', `Test key for ${name}`, scopes)})`,
    `  echo "${publicUrl}/docs#key=$TEST_KEY"`,
    ...(portal.title === undefined
      ? [
          `It is named after the document. A name of your own: portal.title in ${shownPath(join(directories.config, 'gateway.yaml'))}`,
        ]
      : []),
    ...(hasAccount
      ? [
          `The account page ${publicUrl}/docs/account takes a key that may make others. This prints one, for people only:`,
          `  ${newKey('live', 'Account page', [...scopes, ...ACCOUNT_SCOPES])}`,
        ]
      : []),
    'Once clients rely on it, promise it, so that no change breaks them:',
    `  ${EXECUTABLE} contract publish`,
  ];
}

/** Returns the lines that make the next commands use this configuration. Returns none if they use it anyway. */
export function exportLines(context: CommandContext, { config, contracts }: Directories): string[] {
  const { configDirectory, contractsDirectory } = context.settings();
  if (config === configDirectory && contracts === contractsDirectory) return [];
  return [`  export GATEWAY_CONFIG=${shownPath(config)} GATEWAY_CONTRACTS=${shownPath(contracts)}`];
}

/** The keys in the data directory, and whether a gateway runs with it. */
interface FormerData {
  readonly hasFirst: boolean;
  readonly hasKeys: boolean;
}

const NOTHING_KNOWN: FormerData = { hasFirst: false, hasKeys: false };

/**
 * Reads the data directory. Returns nothing if it cannot be read, because the service is added nevertheless, and the next commands report
 * the error.
 */
async function knownBefore(around: CommandContext): Promise<FormerData> {
  try {
    const { store } = await around.keyStore();
    const keys = (await around.actions('keys')).list({ organization: undefined, after: undefined });
    const { value: part = [] } = await keys[Symbol.asyncIterator]().next();
    return { hasFirst: (await store.organizations.get(FIRST)) !== undefined, hasKeys: part.length > 0 };
  } catch {
    return NOTHING_KNOWN;
  } finally {
    await around.close();
  }
}

function formerKeysText(scopes: readonly string[]): string {
  return `Keys from before get 403 from this service, because they lack ${scopes.join(' and ')}. To add them to one: ${EXECUTABLE} keys scopes KEY_ID --add ${scopes.join(' ')}`;
}

/** Says that a gateway runs with this data directory, occupies the port, and accepts the keys that the commands create. */
function runningText(dataDirectory: string, isOwn: boolean): string {
  const running = `A gateway that keeps its data in ${dataDirectory} is running.`;
  return isOwn
    ? `${running} It has another configuration: stop it first, with Ctrl+C in its terminal.`
    : `${running} If it has this configuration, the service is in force. Otherwise stop it, with Ctrl+C in its terminal, and start it again.`;
}

function newKey(mode: string, name: string, scopes: readonly string[]): string {
  const words = `keys create --org ${FIRST} --mode ${mode} --name '${name}' --scopes ${scopes.join(' ')} --print key`;
  return `${EXECUTABLE} ${words}`;
}

/** Quotes a URL for a shell. Its path comes from the document, and must not be run as a command. */
function shellWord(url: string): string {
  const encoded = url.replace(/[^!-~]|'/gu, (character) =>
    character === "'" ? '%27' : encodeURIComponent(character.toWellFormed()),
  );
  return `'${encoded}'`;
}
