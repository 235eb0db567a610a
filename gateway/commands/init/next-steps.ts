// The commands that `gateway init --from` prints: up to the first request, and to the pages that take a key.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Configuration } from '../../configuration.ts';
import { ACCOUNT_SCOPES } from '../../shared/contracts/scopes.ts';
import { shownPath } from '../../shared/file-text.ts';
import { directoryLockProblem } from '../../shared/stores/sqlite.ts';
import type { CommandContext } from '../context.ts';
import { contextOf, type Directories, type ProposedService } from './propose-service.ts';

export const EXECUTABLE = shownPath(fileURLToPath(new URL('../../../bin/gateway', import.meta.url)));

/** The organization of the first keys. */
const FIRST = 'org_first';

/** @param path path and query of the first request */
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
  const served = (scope: string) => configuration.contracts.scopes.has(scope);
  // A service that only reads has no operation that needs the scope for writing, and no key can be made with it.
  const scopes = [...security.read, ...security.write].filter(served);
  const hasAccount = ACCOUNT_SCOPES.every(served);
  const { publicUrl, portal } = configuration.config.gateway;
  // All lines may be pasted at once: words between them have no character that a shell would act on.
  return [
    '',
    ...(isRunning ? [runningText(shownPath(dataDirectory), exports.length > 0)] : []),
    'The first request:',
    ...exports,
    ...(isRunning && exports.length === 0 ? [] : [`  ${EXECUTABLE} start &`]),
    ...(known.hasFirst ? [] : [`  ${EXECUTABLE} orgs create --id ${FIRST} --name First --tier standard`]),
    `  KEY=$(${newKey('live', `Live key for ${name}`, scopes)})`,
    // The gateway may still be starting. A service that is away ends the wait, too.
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

/** The line that makes the commands after it use the configuration, if it is another one than theirs. */
export function exportLines(context: CommandContext, { config, contracts }: Directories): string[] {
  const { configDirectory, contractsDirectory } = context.settings();
  if (config === configDirectory && contracts === contractsDirectory) return [];
  return [`  export GATEWAY_CONFIG=${shownPath(config)} GATEWAY_CONTRACTS=${shownPath(contracts)}`];
}

/** What the data directory has of earlier services. */
interface Known {
  readonly hasFirst: boolean;
  readonly hasKeys: boolean;
}

const NOTHING_KNOWN: Known = { hasFirst: false, hasKeys: false };

/** Nothing of data that cannot be read, because the service is added all the same: the printed commands then say why. */
async function knownBefore(around: CommandContext): Promise<Known> {
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

/** A gateway that runs on the data directory keeps its port, and accepts the keys that the commands make there. */
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

/** The line is made to be pasted, and the path is the document's: nothing in it may be a command. */
function shellWord(url: string): string {
  const encoded = url.replace(/[^!-~]|'/gu, (character) =>
    character === "'" ? '%27' : encodeURIComponent(character.toWellFormed()),
  );
  return `'${encoded}'`;
}
