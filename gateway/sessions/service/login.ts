// The login: GET /session/login and GET /session/callback. Throws return_to_invalid, login_provider_unknown, login_failed,
// login_not_permitted and provider_unavailable, which a browser gets as a page with the request id.

import { GatewayError, type GatewayErrorDetails } from '../../catalogue/errors.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import { hashOf, sessionCookieLine } from '../cookies.ts';
import { deviceOf } from '../device.ts';
import { keptClaims, organizationClaimed } from '../grants.ts';
import { failedLoginPage, signedInPage } from '../login/pages.ts';
import type { Transaction } from '../login/transaction.ts';
import type { Provider, SignedIn } from '../provider/provider.ts';
import { awayIn, isRefusedLogin, providerReason } from '../provider/provider-fetch.ts';
import { returnPathOf } from '../return-to.ts';
import { fromStore } from '../store-away.ts';
import { pageAnswer, redirectAnswer, type SessionHandler, servedOrigin, setCookies, usePolicy } from './answer.ts';
import type { SessionDeps } from './deps.ts';

const CALLBACK = '/session/callback';

export const startLogin: SessionHandler = async (deps, exchange) => {
  const { settings, store, reader, transactions } = deps;
  const { origin, isSecure } = servedOrigin(deps, exchange);
  const query = new URLSearchParams(exchange.search);
  const returnTo = returnPathOf(query.get('return_to') ?? settings.afterLogin, origin);
  if (returnTo === undefined) {
    const refusal = new GatewayError('return_to_invalid', { fields: { param: 'return_to' } });
    throw refusedStart(deps, exchange, settings.afterLogin, refusal);
  }
  const name = query.get('provider') ?? undefined;
  const provider = providerNamed(deps, name);
  if (provider === undefined) throw refusedStart(deps, exchange, returnTo, unknownProvider(deps, name));
  try {
    // Another tab may have signed in meanwhile. The browser sends the session cookie only if a page of the platform made this request.
    if ((await fromStore(() => reader.find(exchange))) !== undefined) return redirectAnswer(exchange, returnTo);
    const secrets = transactions.newSecrets();
    const begunAtMs = await fromStore(() => store.nowMs());
    const address = await provider.loginAddress(origin + CALLBACK, secrets);
    const transaction = { ...secrets, provider: provider.name, origin, returnTo, begunAtMs };
    setCookies(exchange, transactions.begin(transaction, exchange.headers.get('cookie') ?? '', isSecure));
    return redirectAnswer(exchange, address);
  } catch (cause) {
    throw refusedWithPage(deps, exchange, returnTo, failureOf(cause));
  }
};

export const finishLogin: SessionHandler = async (deps, exchange) => {
  const { settings, store, transactions } = deps;
  const { origin, isSecure } = servedOrigin(deps, exchange);
  const state = new URLSearchParams(exchange.search).get('state') ?? '';
  let transaction: Transaction | undefined;
  try {
    const nowMs = await fromStore(() => store.nowMs());
    transaction = transactions.find(state, exchange.headers.get('cookie') ?? '', isSecure, nowMs);
    const provider = deps.providers.get(transaction?.provider ?? '');
    if (transaction === undefined || provider === undefined || transaction.origin !== origin)
      throw new GatewayError('login_failed', { hint: 'not_begun' });
    // The cookie of the login is removed even if the login fails, because its code and its state can be used only once.
    setCookies(exchange, [transactions.endedLine(state, isSecure)]);
    const signedIn = await provider.signIn(new URL(origin + CALLBACK + exchange.search), transaction);
    const value = await storeSession(deps, exchange, provider, transaction, signedIn);
    setCookies(exchange, [sessionCookieLine(value, isSecure)]);
    return pageAnswer(exchange, signedInPage(transaction.returnTo, deps.brand()));
  } catch (cause) {
    throw refusedWithPage(deps, exchange, transaction?.returnTo ?? settings.afterLogin, failureOf(cause));
  }
};

/**
 * Stores a new session and returns the value of its cookie. Every login gets a new value, so a value that an attacker has planted in the
 * browser is worth nothing.
 */
async function storeSession(
  deps: SessionDeps,
  exchange: Forwardable,
  { name, settings: rules }: Provider,
  { begunAtMs }: Transaction,
  { subject, providerSid, claims, tokens }: SignedIn,
): Promise<string> {
  const { idleSeconds, absoluteSeconds, perPersonMax } = deps.settings;
  const id = organizationClaimed(claims, rules);
  const organization = id === undefined ? undefined : await deps.organizationOf(id);
  if (organization === undefined) throw new GatewayError('login_not_permitted', { hint: 'organization' });
  if (organization.state === 'suspended') throw new GatewayError('login_not_permitted', { hint: 'suspended' });
  const value = deps.randomText();
  const create = () =>
    deps.store.create(
      {
        id: `ses_${hashOf(`id ${value}`).replace(/[-_]/g, '').slice(0, 20)}`,
        hash: hashOf(value),
        provider: name,
        subject,
        providerSid,
        organization: organization.id,
        claims: keptClaims(claims, rules),
        device: deviceOf(exchange.headers.get('user-agent')),
        livesMs: absoluteSeconds * 1000,
        idleMs: idleSeconds * 1000,
      },
      tokens,
      { begunAtMs, perPersonMax },
    );
  const session = await fromStore(create);
  if (session === undefined) throw new GatewayError('login_failed', { hint: 'signed_out' });
  return value;
}

/** Returns the provider with this name. If no name is given, returns the only provider. */
function providerNamed({ providers }: SessionDeps, name: string | undefined): Provider | undefined {
  return name === undefined && providers.size === 1 ? [...providers.values()][0] : providers.get(name ?? '');
}

function unknownProvider({ providers }: SessionDeps, name: string | undefined): GatewayError {
  return new GatewayError('login_provider_unknown', {
    hint: name === undefined ? 'several' : 'unknown',
    fields: { param: 'provider', providers: [...providers.keys()] },
  });
}

/** Returns the refusal as a page for a browser, or as an error object for a program. */
function refusedStart(deps: SessionDeps, exchange: Forwardable, returnTo: string, error: GatewayError): GatewayError {
  const isForPerson = exchange.headers.get('accept')?.includes('text/html') === true;
  return isForPerson ? refusedWithPage(deps, exchange, returnTo, error) : error;
}

function failureOf(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  if (awayIn(cause) !== undefined)
    return new GatewayError('provider_unavailable', { cause: new Error(providerReason(cause)) });
  // The callback address contains texts of the provider, which an attacker may have written. The log gets these texts, but the page does
  // not.
  return new GatewayError('login_failed', {
    hint: isRefusedLogin(cause) ? 'refused' : 'answer',
    cause: new Error(providerReason(cause)),
  });
}

/** Returns the refusal with a page as its body. */
function refusedWithPage(
  { settings, providers, brand }: SessionDeps,
  exchange: Forwardable,
  returnTo: string,
  error: GatewayError,
): GatewayError {
  const { message, hints }: { message: string; hints?: Readonly<Record<string, string>> } = error.entry;
  const { hint } = error.details;
  const page = failedLoginPage({
    title: hint === 'several' ? 'Sign in' : 'Signing in did not succeed',
    message: (hint !== undefined && hints?.[hint]) || message,
    requestId: exchange.id,
    providers: [...providers.keys()],
    returnTo,
    requestHeader: settings.requestHeader,
    brand: brand(),
  });
  usePolicy(exchange.commonHeaders, page.policy);
  const details: GatewayErrorDetails = { ...error.details, page: page.html };
  return new GatewayError(error.code, details);
}
