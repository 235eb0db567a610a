// Every code that the tests of this folder produce through a real socket. Not written down by hand: these are the cases they run.

import type { ErrorCode } from '../../../gateway/catalogue/errors.ts';
import { administrationCases } from './administration.cases.ts';
import { brokenCases } from './broken-http.cases.ts';
import { contentCases } from './content.cases.ts';
import { credentialCases } from './credentials.cases.ts';
import { declaredCases } from './declared.cases.ts';
import { keyedCases } from './keyed.cases.ts';
import { bugCases, drainCases } from './lifecycle.cases.ts';
import { awayCases, limitCases } from './limit.cases.ts';
import { mcpCases } from './mcp.cases.ts';
import { routingCases } from './routing.cases.ts';
import { pageCases, sessionCases } from './session.cases.ts';
import { sizeCases } from './size.cases.ts';
import { streamCases } from './stream.cases.ts';
import { tlsCases } from './tls.cases.ts';
import { tokenCases } from './token.cases.ts';
import { unreachableCases, upstreamCases } from './upstream.cases.ts';
import { versionCases } from './version.cases.ts';
import { wordsCases } from './words.cases.ts';

const cases: readonly { readonly code: ErrorCode }[] = [
  ...administrationCases,
  ...credentialCases,
  ...tokenCases,
  ...sessionCases,
  ...pageCases,
  ...routingCases,
  ...contentCases,
  ...keyedCases,
  ...sizeCases,
  ...limitCases,
  ...awayCases,
  ...streamCases,
  ...tlsCases,
  ...brokenCases,
  ...upstreamCases,
  ...unreachableCases,
  ...wordsCases,
  ...declaredCases,
  ...versionCases,
  ...mcpCases,
  ...bugCases,
  ...drainCases,
];

export const producedCodes: ReadonlySet<ErrorCode> = new Set(cases.map(({ code }) => code));
