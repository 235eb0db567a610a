// Reads the report of the gateway on this machine about its own files and secrets. The gateway may have another environment than the shell
// of a command, so the command itself cannot find these faults.

import type { StatusForCauses } from '../console/causes/cause.ts';
import type { MachineContext } from './context.ts';
import { type Finding, fail, ok } from './finding.ts';

const CHECK = 'running gateway';

/** Resolves with the status of the gateway; undefined if no gateway answers, or if this user may not read the status. */
async function statusOf(context: Pick<MachineContext, 'adminClient'>): Promise<StatusForCauses | undefined> {
  const answer = await context.adminClient().ask('GET', '/status');
  return answer?.status === 200 ? (answer.body as StatusForCauses) : undefined;
}

export interface RefusedByRunning {
  /** The reasons why the gateway keeps a former configuration; empty if the latest is in force, or if no gateway runs here. */
  readonly mistakes: readonly string[];
  /** Whether the configuration needs a restart of the gateway. */
  readonly needsRestart: boolean;
}

export async function refusedByRunning(context: Pick<MachineContext, 'adminClient'>): Promise<RefusedByRunning> {
  const { mistakes = [], needs_restart: needsRestart = false } =
    (await statusOf(context))?.configuration?.last_failure ?? {};
  return {
    mistakes: mistakes.map((mistake) => `the running gateway keeps its former configuration: ${mistake}`),
    needsRestart,
  };
}

/** Resolves with nothing if no gateway runs here. */
export async function examineRunning(context: Pick<MachineContext, 'adminClient' | 'secrets'>): Promise<Finding[]> {
  const status = await statusOf(context);
  if (status === undefined) return [];
  const found = [...ofFiles(status), ...ofKeys(status), ...ofSecrets(status, context.secrets().read)];
  return found.length === 0 ? [ok(CHECK, 'It has its files in force, its keys and its secrets.')] : found;
}

function ofFiles({ configuration }: StatusForCauses): Finding[] {
  const failure = configuration?.last_failure;
  const [first] = failure?.mistakes ?? [];
  if (first === undefined) return [];
  const remedy = failure?.needs_restart ? 'Restart it.' : 'Correct that: "gateway check" names all mistakes.';
  return [fail(CHECK, `It keeps its former configuration: ${first}`, remedy)];
}

function ofKeys({ keys }: StatusForCauses): Finding[] {
  if (keys?.emptied_at === undefined) return [];
  const says = `Its key store came back without any organization at ${keys.emptied_at}.`;
  return [fail(CHECK, says, 'Import the latest export: "gateway keys import keys.jsonl".')];
}

function ofSecrets({ upstreams = {} }: StatusForCauses, read: (entry: string) => string | undefined): Finding[] {
  return Object.entries(upstreams).flatMap(([name, { credential_fault: fault }]) => {
    if (fault === undefined) return [];
    const { reason, secret, detail = '' } = fault;
    const says = {
      refused: `The upstream ${name} refused its secret ${secret}, and gets nothing until it changes.`,
      absent: `It has no secret ${secret}, and sends nothing to the upstream ${name}.`,
      unusable: `It cannot use the secret ${secret}, and sends nothing to the upstream ${name}. ${detail}`.trim(),
    }[reason];
    return [fail(CHECK, says, remedyFor(reason, secret, read))];
  });
}

function remedyFor(reason: string, secret: string, read: (entry: string) => string | undefined): string {
  if (reason === 'refused') return `Write the right one, or correct the account at the service.`;
  const variable = secret.toUpperCase();
  const remedy = `Put it into the file SECRETS_DIR/${secret} of the gateway, or restart the gateway with the variable ${variable}.`;
  return isHere(read, secret) ? `This shell has the secret, and the gateway does not. ${remedy}` : remedy;
}

function isHere(read: (entry: string) => string | undefined, secret: string): boolean {
  try {
    return read(secret) !== undefined;
  } catch {
    return false;
  }
}
