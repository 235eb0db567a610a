// Checks that the secrets of the configuration exist and can be used, and that other users of the machine cannot read them.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { NamedSecret } from '../../config/gateway/acme-needs.ts';
import { adminTokensIn, type Secrets } from '../../config/secrets.ts';
import type { Settings } from '../../config/settings.ts';
import type { Configuration } from '../../configuration.ts';
import { shownPath } from '../../shared/file-text.ts';
import { remedyForEntry } from '../../shared/secret-names.ts';
import { namedSecrets } from '../../wiring/named-secrets.ts';
import { type Finding, fail, ok, reasonOf, warn } from '../finding.ts';

export function examineSecrets(
  configuration: Configuration,
  settings: Settings,
  secrets: Pick<Secrets, 'read'>,
): Finding[] {
  const named = namedSecrets(configuration, settings.redisUrl !== undefined).map((secret) =>
    secretFinding(secrets, secret),
  );
  return [...named, ...checkAdminTokens(settings, secrets), ...checkReaders(settings)];
}

function secretFinding(secrets: Pick<Secrets, 'read'>, { entry, use, problemOf }: NamedSecret): Finding {
  const check = `secret ${entry}`;
  const remedy = remedyForEntry(entry);
  let text: string | undefined;
  try {
    text = secrets.read(entry);
  } catch (error) {
    return fail(check, reasonOf(error), remedy);
  }
  if (text === undefined)
    return fail(check, `It is not there. It is ${use}: without it the gateway does not start.`, remedy);
  const problem = problemOf(text);
  return problem === undefined ? ok(check, 'It is there.') : fail(check, `It cannot be used: ${problem}`, remedy);
}

/** Checks the tokens of the admin listener. Without tokens, a listener that is not on loopback answers only probes. */
function checkAdminTokens({ adminHost }: Settings, secrets: Pick<Secrets, 'read'>): Finding[] {
  if (/^(127\.|::1$|localhost$)/.test(adminHost)) return [];
  const { admin, viewer, named } = adminTokensIn(secrets);
  const looks = [
    ...(viewer === undefined ? [] : [ok('secret viewer_token', 'It is there.')]),
    ...(named.length === 0 ? [] : [ok('secret operator_tokens', `It names ${named.length} operators.`)]),
  ];
  if (admin === undefined && named.some(({ role }) => role === 'act')) return looks;
  if (admin !== undefined) return [ok('secret admin_token', 'It is there.'), ...looks];
  const without =
    viewer === undefined && named.length === 0 ? 'only the probes answer there' : 'the console only looks';
  const says = `ADMIN_HOST is ${adminHost}, and without this token ${without}.`;
  const remedy = 'Put one into SECRETS_DIR/admin_token, or leave ADMIN_HOST on loopback.';
  return [warn('secret admin_token', says, remedy), ...looks];
}

function checkReaders({ secretsDirectory }: Settings): Finding[] {
  if (secretsDirectory === undefined) return [];
  const shown = shownPath(secretsDirectory);
  try {
    const files = readdirSync(secretsDirectory).filter((name) => !name.startsWith('.'));
    const open = files.filter((name) => (statSync(join(secretsDirectory, name)).mode & 0o004) !== 0);
    if (open.length === 0) return [ok('secrets directory', `Other users cannot read the files in ${shown}.`)];
    const says = `Every user of this machine can read ${open.join(', ')} in ${shown}.`;
    return [warn('secrets directory', says, 'Remove that permission: chmod o-r (in Kubernetes, defaultMode: 0400).')];
  } catch (error) {
    const remedy = 'Create it, or correct SECRETS_DIR.';
    return [fail('secrets directory', `${shown} cannot be read (${reasonOf(error)}).`, remedy)];
  }
}
