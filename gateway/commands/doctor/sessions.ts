// Tries the discovery, the keys, the client and redirect addresses and the clock of each provider that people sign in with. No person is
// signed in.

import type { Secrets } from '../../config/secrets.ts';
import type { Configuration } from '../../configuration.ts';
import { type Examination, examineProvider } from '../../sessions/provider/examination.ts';
import { type Finding, fail, type NamedCheck, ok, warn } from '../finding.ts';

/** The time for an answer. It is shorter than the deadline of a check, so that a provider that does not answer is a finding. */
const ANSWER_MAX_MS = 2000;

export interface ProviderExamination {
  readonly name: string;
  /** Examines the provider. Resolves with undefined if the secret of the client is missing, which another check reports. */
  examine(): Promise<Examination | undefined>;
}

export function providerExaminations(
  { config }: Configuration,
  secrets: Pick<Secrets, 'read'>,
  now: () => number,
): ProviderExamination[] {
  const { sessions, publicUrl } = config.gateway;
  const providers = Object.entries(sessions?.providers ?? {});
  const redirectUris = (sessions?.origins ?? [publicUrl]).map((origin) => `${origin}/session/callback`);
  return providers.map(([name, settings]) => ({
    name,
    async examine() {
      const secret = secrets.read(settings.authentication.secret);
      if (secret === undefined) return undefined;
      const bounded = { ...settings, timeoutMs: Math.min(settings.timeoutMs, ANSWER_MAX_MS) };
      return examineProvider({ settings: bounded, secret, redirectUris, hasOthers: providers.length > 1, now });
    },
  }));
}

/** Returns a check for each provider. */
export function sessionChecks(configuration: Configuration, secrets: Pick<Secrets, 'read'>, now: () => number) {
  return providerExaminations(configuration, secrets, now).map(({ name, examine }): NamedCheck => {
    const check = `provider ${name}`;
    return [check, async () => findingsIn(check, await examine())];
  });
}

function findingsIn(check: string, examination: Examination | undefined): Finding[] {
  if (examination === undefined) return [];
  const { failures, warnings } = examination;
  const remedy = 'Correct it in sessions of gateway.yaml, or at the provider.';
  const found = [
    ...failures.map((says) => fail(check, says, remedy)),
    ...warnings.map((says) => warn(check, says, 'Turn it on at the provider, if it can do that.')),
  ];
  return failures.length > 0 ? found : [ok(check, 'It takes logins from here.'), ...found];
}
